/** How long nodes accept the payment for a batch after its time. */
export const batchLifetimeSeconds = 7 * 24 * 60 * 60;

/** Of these seconds, the upload needs some. An older batch is paid no more. */
export const maxBatchAgeSeconds = 24 * 60 * 60;
