/**
 * A browser cannot listen. So a node in a page learns of an offer when the client sets its answer, and only the socket in
 * that answer is replaced.
 * @param accept asks the node of a port for its socket. Undefined for a port where no node is.
 */
export function redirectAnswers(
  accept: (port: number, offer: string, credential: string) => Promise<[string, number]> | undefined,
): void {
  // Without the deprecated form that takes callbacks.
  const setRemoteDescription: (
    this: RTCPeerConnection,
    description: RTCSessionDescriptionInit,
  ) => Promise<void> = RTCPeerConnection.prototype.setRemoteDescription;

  RTCPeerConnection.prototype.setRemoteDescription = async function (description: RTCSessionDescriptionInit) {
    const credential = /^a=ice-ufrag:(saorsa\+webrtc\+v2\/\S+)\r?$/m.exec(description.sdp ?? '')?.[1];
    const port = /^m=application (\d+) /m.exec(description.sdp ?? '')?.[1];
    const isForNode = description.type === 'answer' && credential !== undefined;
    const socket = isForNode ? accept(Number(port), this.localDescription!.sdp, credential) : undefined;
    if (!socket) return setRemoteDescription.call(this, description);
    const [host, actual] = await socket;
    const family = host.includes(':') ? 'IP6' : 'IP4';
    const sdp = description
      .sdp!.replaceAll(` ${port} `, ` ${actual} `)
      .replaceAll('IP4 127.0.0.1', `${family} ${host}`)
      .replaceAll('127.0.0.1', host);
    return setRemoteDescription.call(this, { type: 'answer', sdp });
  };
}
