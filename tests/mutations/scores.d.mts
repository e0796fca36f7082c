export interface Counts {
  killed: number;
  timeout: number;
  survived: number;
  noCoverage: number;
}
export function countsOf(mutants: { status: string }[]): Counts;
export function scoreOf(counts: Counts): number;
export function render(scores: ReadonlyMap<string, Counts>): string;
export function parse(document: string): Map<string, Counts>;
