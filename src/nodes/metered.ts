/** The part of `NetworkInformation` that is used. Not all browsers have it. */
interface Connection {
  readonly saveData?: boolean;
  readonly type?: string;
}

/**
 * Whether the user pays by data volume, or asked for less traffic. False if the browser does not tell.
 * @param browser the `navigator` of a page or of a worker.
 */
export function isMetered(browser: object): boolean {
  const { connection } = browser as { readonly connection?: Connection };
  return connection?.saveData === true || connection?.type === 'cellular';
}
