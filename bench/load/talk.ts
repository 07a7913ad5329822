import { SocketIoClient } from './socketio-client.js';

const ENDED = Buffer.from('"turn.ended"');
const QUESTION = 'The quick brown fox jumps over the lazy dog and then lies down to sleep in the warm sun all day long';

/** A person who talks to an assistant in one chat, turn after turn. */
export class Talk {
  #ended: (() => void) | null = null;
  #turns = 0;

  private constructor(
    private readonly client: SocketIoClient,
    private readonly kind: 'turnstream' | 'socket.io',
    private readonly chatId: string,
  ) {}

  static async begin(port: number, kind: 'turnstream' | 'socket.io', chatId: string): Promise<Talk> {
    const client = new SocketIoClient({
      port,
      chat: chatId,
      onEvent: (bytes, from, to) => {
        if (bytes.subarray(from, to).includes(ENDED)) talk.#ended?.();
      },
    });
    const talk = new Talk(client, kind, chatId);
    await client.joined;
    if (kind === 'turnstream') {
      await client.do('chat:create', { chatId, assistantId: 'echo' });
      await client.do('chat:subscribe', { chatId });
    }
    return talk;
  }

  /** Asks, and waits until the turn has ended. @returns milliseconds */
  async turn(assistantId: string): Promise<number> {
    const began = performance.now();
    const ended = new Promise<void>((resolve) => (this.#ended = resolve));
    const { chatId } = this;
    await this.client.do('turn:start', { chatId, assistantId, input: QUESTION, metadata: { delayMs: 0 } });
    await ended;
    this.#turns++;
    return performance.now() - began;
  }

  /** @throws {Error} unless every turn is stored with the question as its answer */
  async check(): Promise<void> {
    if (this.kind === 'socket.io') return;
    const { messages } = await this.client.do<{
      messages: { sequence: number; role: string; props: { content?: unknown } }[];
    }>('message:list', { chatId: this.chatId, limit: 200 });
    if (messages.at(-1)?.sequence !== 2 * this.#turns) throw new Error(`${this.chatId}: not every message is stored`);
    if (messages.some(({ props }) => props.content !== QUESTION))
      throw new Error(`${this.chatId}: an answer is not whole`);
  }

  close(): void {
    this.client.close();
  }
}
