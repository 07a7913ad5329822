/** The addresses of the pages. Both name a chat in their path. */
export const chatPath = (chatId: string): string => `/chats/${chatId}`;
export const inspectorPath = (chatId: string): string => `/inspector/${chatId}`;

const CHAT_ID = '[A-Za-z0-9_-]{1,64}';
const PATH = new RegExp(`^/(chats|inspector)/(${CHAT_ID})$`);
const WHOLE_ID = new RegExp(`^${CHAT_ID}$`);

/** The chat that an address of a page names; null: none. */
export const chatIdIn = (path: string): string | null => PATH.exec(path)?.[2] ?? null;

/** Whether a text could be the id of a chat. */
export const isChatId = (text: string): boolean => WHOLE_ID.test(text);
