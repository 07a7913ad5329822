import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Person } from '../harness/person.js';
import { ServerProcess } from '../harness/server-process.js';
import { until } from '../harness/until.js';

const MODULE = fileURLToPath(new URL('./throwing-assistants.mjs', import.meta.url));

/** A server process, and one who starts turns there. */
async function scene() {
  const server = await new ServerProcess({ ASSISTANTS: MODULE, LOG_LEVEL: 'error' }).start();
  const person = await new Person(server.url).open();
  const start = async (assistantId: string, metadata = {}): Promise<{ chatId: string; requestId: string }> => {
    const chatId = await person.createChat({ assistantId });
    await person.follow(chatId);
    const { turn } = await person.do<{ turn: { requestId: string } }>('turn:start', {
      chatId,
      input: 'one two',
      metadata,
    });
    return { chatId, requestId: turn.requestId };
  };
  const ended = async (requestId: string) => {
    const get = () =>
      person.do<{ turn: Record<string, unknown> & { endedAt: string | null } }>('turn:get', { requestId });
    let { turn } = await get();
    await until(async () => (turn = (await get()).turn).endedAt !== null, 'the end of the turn');
    return turn;
  };
  return { server, person, start, ended };
}

test('what an assistant throws in a timer fails its turn, keeps what it sent, and no other turn notices', async () => {
  const { server, person, start, ended } = await scene();
  const other = await start('echo', { delayMs: 100 });
  const { chatId, requestId } = await start('thrower');
  expect(await ended(requestId)).toMatchObject({
    status: 'failed',
    stopReason: 'error',
    error: { code: 'error', message: 'thrown in a timer' },
  });
  const { messages } = await person.do<{ messages: { props: { content: string } }[] }>('message:list', { chatId });
  expect(messages.map(({ props }) => props.content)).toEqual(['one two', 'Before it.']);
  expect(await ended(other.requestId)).toMatchObject({ status: 'completed' });
  expect(server.output).toContain('an assistant threw where nobody could catch it');
  person.close();
});

test('C07: what is thrown or rejected after a turn has ended, or for nobody, ends no process', async () => {
  const { server, person, start, ended } = await scene();
  const late = await start('late');
  expect(await ended(late.requestId)).toMatchObject({ status: 'completed' });
  await until(() => server.output.includes('thrown after the end'), 'the late error in the log');
  const rejecter = await start('rejecter');
  expect(await ended(rejecter.requestId)).toMatchObject({ status: 'completed' });
  await until(() => server.output.includes('rejected for nobody'), 'the rejection in the log');
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  person.close();
});
