/** Four pads of 52 bytes fill a whole number of vectors. */
const padsBytes: usize = 4 * 52;

/** XORs the 208 bytes at `pads` into `data` to `end`, 208 bytes at a time, so it can overwrite bytes behind `end`. */
export function xorPads(data: usize, end: usize, pads: usize): void {
  do {
    for (let at: usize = 0; at < padsBytes; at += 16) {
      v128.store(data + at, v128.xor(v128.load(data + at), v128.load(pads + at)));
    }
    data += padsBytes;
  } while (data < end);
}
