/** Sends a message through two connections of this page. @returns the time to its answer, in milliseconds. */
export async function connectInPage(signal: AbortSignal): Promise<number> {
  const [near, far] = [new RTCPeerConnection(), new RTCPeerConnection()];
  try {
    passCandidates(near, far);
    passCandidates(far, near);
    far.ondatachannel = ({ channel }) => {
      channel.onmessage = ({ data }) => channel.send(data);
    };
    const channel = near.createDataChannel('self-test');
    const opened = when(channel, 'open', signal);
    await near.setLocalDescription();
    await far.setRemoteDescription(near.localDescription!);
    await far.setLocalDescription();
    await near.setRemoteDescription(far.localDescription!);
    await opened;
    const startedAt = performance.now();
    const answered = when(channel, 'message', signal);
    channel.send('?');
    await answered;
    return Math.round(performance.now() - startedAt);
  } finally {
    near.close();
    far.close();
  }
}

function passCandidates(from: RTCPeerConnection, to: RTCPeerConnection): void {
  from.onicecandidate = ({ candidate }) => {
    // A candidate of a kind that this browser does not know is not the only one.
    if (candidate) void to.addIceCandidate(candidate).catch(() => undefined);
  };
}

function when(target: EventTarget, type: string, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    target.addEventListener(type, resolve, { once: true });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
