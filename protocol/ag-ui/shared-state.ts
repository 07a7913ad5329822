import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { AgUiEvent } from './event.js';
import { patchOf } from './json-patch.js';

/** The state that an assistant shares with a frontend, as the client holds it. */
export class SharedState {
  /** @param held as the client has sent it */
  constructor(private held: Json | undefined) {}

  /** @param state as the chat has it; undefined where it has none: the client keeps its own */
  begin(state: JsonObject | undefined): AgUiEvent[] {
    if (state === undefined) return [];
    const isHeld = JSON.stringify(state) === JSON.stringify(this.held);
    this.held = state;
    return isHeld ? [] : [{ type: 'STATE_SNAPSHOT', snapshot: state }];
  }

  /** It costs nothing where the state is the very same. */
  change(state: JsonObject | undefined): AgUiEvent[] {
    const before = this.held;
    if (state === undefined || state === before) return [];
    this.held = state;
    if (!isJsonObject(before)) return [{ type: 'STATE_SNAPSHOT', snapshot: state }];
    const delta = patchOf(before, state);
    return delta.length === 0 ? [] : [{ type: 'STATE_DELTA', delta }];
  }
}
