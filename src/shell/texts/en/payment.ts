export const payment = {
  relays: 'Peers that bring it to the network',
  relaysNote:
    'They take no money and see only encrypted chunks. With a second one, each checks the other: choose two by different operators if you can.',
  findingRelays: 'Asking your peers …',
  noRelays: 'None of your peers takes paid uploads.',
  direct: 'The network’s nodes, directly',
  directNote:
    'This page brings it to the nodes, without a peer. It takes longer, and the nodes learn your IP address. With a peer, each checks the other.',
  directOff:
    'The network’s nodes can take it without a peer. For that, allow “Direct connections” in the settings.',
  otherRelay: 'Another peer that brings it to the network',
  otherRelayPlaceholder: 'https://peer.example:4433',
  badRelay: 'Enter an https:// URL without a path, or http:// on this computer.',
  noRelayChosen: 'Choose a peer or the nodes, to bring it to the network.',
  testChainTitle: 'Another chain',
  testChainField: 'Chain, token and vault',
  testChainNote: 'Only for trials: id,token,vault. Leave it empty to store in the real network.',
  badChain: 'A chain has the form id,token,vault, with the addresses of the two contracts.',
  isTestChain: (id: string) =>
    `Chain ${id} is a test chain. Payments there have no value, and the content is not in the real network.`,
  isOtherChain: (id: string) =>
    `Chain ${id} is not the chain of the Autonomi network. Payments there may have value, and the content is not in that network.`,
  shared:
    'At this gateway, sites run at the address of the gateway itself. Their scripts could change what you pay for.',
  priceTitle: 'What it costs',
  total: (amount: string) => `${amount}, and the fees of the chain`,
  records: (all: string, stored: number, paid: number) =>
    [
      all,
      ...(stored > 0 ? [`${stored} of them are stored already`] : []),
      ...(paid > 0 ? [`${paid} were paid for before`] : []),
    ].join('; '),
  mostTotal: (amount: string) => `At most ${amount}, and the fees of the chain`,
  batched: (records: string, payments: number) =>
    `${payments === 1 ? 'One payment covers' : `${payments} payments cover`} ${records}, which saves fees. The chain chooses the nodes that are paid, so it may cost less.`,
  unconfirmed: (nodes: number) =>
    `Only the first peer names ${nodes === 1 ? 'one' : nodes} of these nodes. A dishonest peer could have invented ${nodes === 1 ? 'it' : 'them'}, and get that share of the payment.`,
  once: 'You pay once, and the network stores it for good. Neither you nor others can delete it later.',
  pointerOnce: 'You pay once for each new state. The network stores it for good.',
  newState: 'the new state',
  missingTarget: (address: string) =>
    `The network does not have the content yet that this state leads to: ${address}. Visitors who read from the network see an error until it is there. Go back and publish it in the network first, or pay all the same.`,
  newerState: (counter: string, target: string) =>
    `Since you saw the price, this address has a newer state (${counter}), which leads to ${target}. Your key signed it in another place. Nothing was paid. To replace that state, go back and send the form again.`,
  frozenMeanwhile:
    'Since you saw the price, this address was frozen in another place. Nothing was paid, and no state can replace the frozen one.',
  perFile: (count: string) => `Share of each file (${count})`,
  perFileNote: 'By size, because files share records.',
  perFileMore: (count: string) => `${count} more`,
  noWallet:
    'This browser has no wallet. Install one that knows the chain Arbitrum One, and load this page again, or use the command “antway” with the option “--network”.',
  anyWallet: 'Wallet of this browser',
  connect: (wallet: string) => `Connect ${wallet}`,
  walletsTitle: 'Pay with',
  account: 'Account',
  balance: 'Balance',
  fees: 'Fees (estimate)',
  limit: 'Pay at most (ANT)',
  badLimit: 'Enter an amount such as 0.5.',
  belowLimit: 'The price is higher than what you want to pay at most.',
  pay: (amount: string) => `Pay ${amount}`,
  otherWallet: 'Another wallet',
  back: 'Back',
  connecting: 'Answer in your wallet …',
  checking: 'Antway asks for the newest state of the address …',
  asking: 'Antway asks the chain …',
  approving: 'Your wallet asks for the permission to take exactly this amount …',
  paying: 'Your wallet asks for the payment …',
  confirming: 'The chain confirms the payment …',
  stop: 'Stop waiting',
  stopped:
    'Stopped. If your wallet still shows the request, refuse it there. If you agree to it later, this app finds it and does not ask for it again.',
  waiting: (account: string) =>
    `An earlier payment by ${account} may still wait in your wallet. Refuse it there before you pay again.`,
  forget: 'The wallet does not show it any more: forget the payment',
  busy: 'Another tab of this app is paying. Finish there first.',
  unseen: (records: string) =>
    `The nodes did not see the payment for ${records}. Connect the wallet that paid: the app then asks the chain whether it still has the payment.`,
  lost: 'The chain has lost an earlier payment with a block, so it is due again. Go back, and ask for the price again.',
  newChain: 'The test chain was started anew. Ask for the price again.',
  unfinishedTitle: 'Paid, and not stored yet',
  unfinished: (name: string) =>
    `${name}: the payment is saved. Choose the same files again to finish the upload. Nothing is paid twice.`,
  unnamed: 'An upload',
  unfinishedPointer: (name: string) =>
    `The lasting address “${name}”: the payment for a new state is saved. Make the same change again. If the address shows the change already, choose “Store it again…” there. Nothing is paid twice.`,
  receipt: 'Save the receipt',
  receiptNote: (amount: string, fees: string) => `This time, you paid ${amount}, and fees of ${fees}.`,
};
