/** A page that ends after some of its steps, or before the first one: it takes no further step. */
export class EndingPage {
  #steps = 0;
  #end!: () => void;
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  /** @param last the steps that the page takes. */
  constructor(private readonly last = Number.POSITIVE_INFINITY) {}

  /** A durable change, or a request that pays or stores. */
  async step<T>(work: () => Promise<T>): Promise<T> {
    const number = ++this.#steps;
    if (number > this.last) return this.#never();
    const result = await work();
    return number === this.last ? this.#never() : result;
  }

  #never(): Promise<never> {
    this.#end();
    return new Promise(() => {});
  }
}
