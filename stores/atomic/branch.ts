import * as z from 'zod';

const stretch = z.object({
  /** Null: the branch that the chat began with. */
  branch: z.string().nullable(),
  /** Sequences above this one… */
  above: z.int(),
  /** …up to this one. */
  upTo: z.int(),
});

/**
 * The histories of one chat that go on from a common beginning, each with a list of its own: a copy, and what it was made
 * from. Each message says on which branch it stands and which stretches of others come before that branch, so that the
 * list can be read again from the rows alone.
 */
export const branch = z.object({ id: z.string().nullable(), begins: z.array(stretch) });
export type Branch = z.infer<typeof branch>;

const MAIN: Branch = { id: null, begins: [] };

/** A row of the chat, as far as branches go. */
export interface Placed {
  readonly sequence: number;
  /** Null: written by others, who know no branches. Theirs stand on each branch that is written on at that time. */
  readonly branch: Branch | null;
}

/** The branch that was written on last. */
export const newestBranch = (rows: readonly Placed[]): Branch => rows.findLast((row) => row.branch)?.branch ?? MAIN;

/** The rows that the list of a branch shows, in order. */
export function rowsOf<R extends Placed>(rows: readonly R[], { id, begins }: Branch): R[] {
  const first = rows.find((row) => row.branch?.id === id)?.sequence ?? Infinity;
  const stretches = [...begins, { branch: id, above: id === null ? 0 : first - 1, upTo: Infinity }];
  return rows.filter((row) =>
    stretches.some(
      ({ branch: name, above, upTo }) =>
        row.sequence > above && row.sequence <= upTo && (row.branch === null || row.branch.id === name),
    ),
  );
}
