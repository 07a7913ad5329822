/** Whether an address is a PostgreSQL database; all others are files. */
export const isPostgres = (url: string): boolean => /^postgres(ql)?:/.test(url);
