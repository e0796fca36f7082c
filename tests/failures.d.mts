export interface Failure {
  title: string;
  /** The beginning of what the runner printed, without colours. */
  message: string;
}
export function failuresOfVitest(json: unknown, root: string): Failure[];
export function failuresOfPlaywright(json: unknown): Failure[];
export function failuresOfCargo(output: string): Failure[];
