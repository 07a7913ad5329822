/** A pause that lasts as long as it says, also while a round comes to its end. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
