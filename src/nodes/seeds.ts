/** Nodes of the main network that are always there, as `ant-core` 0.14.0 lists them (`resources/bootstrap_peers.toml`). */
export const mainnetSeeds: readonly string[] = [
  '/ip4/207.148.94.42/udp/10001/webrtc-direct/certhash/uEiAkAsFZc-iV5UToJHyETA8GLBIVdzB10Qv6VuNlwqTwkQ/p2p/57a89f84e1652d22fd6b791c29d83f187fbed3ba8e08e265fe3031b3a6f725da',
  '/ip4/45.77.50.10/udp/10001/webrtc-direct/certhash/uEiBPw-6EWRHA5goZVyE06nBT6BdumpDyuWb40bAbG4tJ2A/p2p/bb72725f8f4383eb475ac9cb681505d9147e8b2c5a4c0197d4efdb328c54601f',
  '/ip4/66.135.23.83/udp/10001/webrtc-direct/certhash/uEiAsKBTTrUfWCXvv8MpV1SPannw0o0qFi2z6Or16O36Jaw/p2p/a1f073e0ffc1a1890e8d072015fa2437a1090997b47c0412c0bfabe7c7e16199',
  '/ip4/149.248.9.2/udp/10001/webrtc-direct/certhash/uEiDdXDebnE74XGEYaA50qZP8xCA7g3Z4dmiWuHiatkOfEg/p2p/3926125b8454101fd39739a09320ca0174be90d3423c1287926172bea69a0f5a',
  '/ip4/167.235.239.18/udp/10001/webrtc-direct/certhash/uEiBypdPUMOpNrjnQ-cW4aq5QnM8bfIeC8NK-Os6WJKbesQ/p2p/dac90975f872f6401519f7b14bfd860792c9052964ffdbd40d190f35469e4ad1',
  '/ip4/87.99.148.210/udp/10001/webrtc-direct/certhash/uEiBPDRe3LCcusQgkHsvEQM8ti3R4ekzpSTGzJPFqq9wpTg/p2p/825916f9447f45d93554d3be742f9a76f7dede9190368dbdb15d34ff7211e9e1',
  '/ip4/18.228.202.183/udp/10001/webrtc-direct/certhash/uEiAZ4mNGJrYmrVVVDi4t8TS9oYoQ-NavFK8cWAF1X3NEjA/p2p/2ed6785d3aab00fc4ef048884c63b2a85fb587441413a94a7eb8f8e8b65bd582',
];
