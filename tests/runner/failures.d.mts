export interface Failure {
  title: string;
  /** The beginning of what the runner printed, without colours. */
  message: string;
  /** Undefined for a failure outside of a test. */
  test?: FailedTest;
}
export interface FailedTest {
  /** The path in the project. */
  file: string;
  /** Playwright's id of the test, or its full name in vitest. */
  id: string;
}
export function failuresOfVitest(json: unknown, root: string): Failure[];
export function failuresOfPlaywright(json: unknown): Failure[];
export function failuresOfCargo(output: string): Failure[];
