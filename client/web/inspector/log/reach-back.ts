import type { ChatEvent, Position } from '../../../../protocol/index.js';

/** The server replays at most so many events (SUB-2). */
const MAX_REPLAY = 1_000;

/**
 * The events that led to a position, from as far back as the server replays them (SUB-2: all that are kept, or that fit
 * in one answer). How far that is it does not say: it is searched for, in about ten questions at most.
 *
 * @param replay asks for what came after a position; null: that is not replayed
 */
export async function reachBack(
  position: Position,
  replay: (after: Position) => Promise<readonly ChatEvent[] | null>,
): Promise<readonly ChatEvent[]> {
  const { epoch, offset } = position;
  let refused = Math.max(0, offset - MAX_REPLAY) - 1;
  let granted = offset;
  let events: readonly ChatEvent[] = [];
  let asked = refused + 1;
  while (asked < granted) {
    const answer = await replay({ epoch, offset: asked });
    if (answer) [events, granted] = [answer, asked];
    else refused = asked;
    asked = refused + Math.ceil((granted - refused) / 2);
  }
  return events.filter((event) => event.epoch === epoch);
}
