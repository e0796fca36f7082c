/** A page that ends before or after one of its steps: it takes no further one. */
export class EndingPage {
  #steps = 0;
  #end!: () => void;
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(
    private readonly last: number,
    private readonly moment: 'before' | 'after',
  ) {}

  /** A durable change, or a request that pays or stores. */
  async step<T>(work: () => Promise<T>): Promise<T> {
    const number = ++this.#steps;
    if (number > this.last || (number === this.last && this.moment === 'before')) return this.#never();
    const result = await work();
    return number === this.last ? this.#never() : result;
  }

  #never(): Promise<never> {
    this.#end();
    return new Promise(() => {});
  }
}
