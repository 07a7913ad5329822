/** Counts the write transactions of SQLite connections by what their statement hooks report. */
export class WriteCount {
  transactions = 0;

  /** The `verbose` of one connection, which tells of every statement that it runs. */
  hook(): (sql?: unknown) => void {
    let isOpen = false;
    let hasWritten = false;
    const end = (): void => {
      if (hasWritten) this.transactions++;
      hasWritten = false;
    };
    return (sql) => {
      const word = /\w+/.exec(String(sql))?.[0]?.toUpperCase() ?? '';
      if (word === 'BEGIN') isOpen = true;
      else if (word === 'COMMIT') isOpen = false;
      else if (['INSERT', 'UPDATE', 'DELETE', 'REPLACE'].includes(word)) hasWritten = true;
      if (!isOpen) end();
    };
  }
}
