import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { kernelMemoryBytes } from '../src/self-encryption/kernel-layout.ts';

/**
 * Compiles `build/kernel/` for `src/self-encryption/kernel-wasm.ts`, so that a build does not need the compiler.
 * To update that file, run `UPDATE_KERNEL=1 npx vitest run tests/unit/kernel.test.ts`.
 * @throws Error with the compiler's messages.
 */
export async function compileKernel(): Promise<Uint8Array> {
  let wasm: Uint8Array | undefined;
  const { error, stderr } = await asc.main(
    [
      'kernel.ts',
      ...['--baseDir', fileURLToPath(new URL('kernel', import.meta.url))],
      ...['--outFile', 'kernel.wasm'],
      ...['--runtime', 'stub', '--enable', 'simd', '-O3', '--noAssert'],
      // The compiler's own data follow those of `kernel.ts`.
      ...['--memoryBase', String(kernelMemoryBytes)],
      // Disables a warning that hosts cannot exchange vectors. Only the kernel's own functions do.
      ...['--disableWarning', '112'],
    ],
    {
      writeFile(_name, contents) {
        wasm = contents as Uint8Array;
      },
    },
  );
  if (error || !wasm) throw new Error(`The kernel does not compile:\n${stderr}`);
  return wasm;
}
