/** How long nodes accept the payment for a batch after its time. */
export const batchLifetimeSeconds = 7 * 24 * 60 * 60;
