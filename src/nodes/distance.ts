/** Compares the XOR distances of two ids to a target: negative if `a` is closer. All have 32 bytes. */
export function compareDistance(target: Uint8Array, a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < 32; i++) {
    const difference = (a[i]! ^ target[i]!) - (b[i]! ^ target[i]!);
    if (difference !== 0) return difference;
  }
  return 0;
}
