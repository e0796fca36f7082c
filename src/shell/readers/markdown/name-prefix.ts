/** The prefix that the sanitiser gives every `id` and `name`, so that no element replaces a property of the document. */
export const namePrefix = 'user-content-';
