/** The column in which a chat is read. */
export const COLUMN = 'mx-auto w-full max-w-3xl px-4 sm:px-6';
/** What a person's words stand on. */
export const BUBBLE = 'max-w-[85%] rounded-2xl rounded-br-md bg-muted px-4 py-2.5';
