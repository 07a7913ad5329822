import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { uid } from '../harness/peer.js';
import { question } from './ui-asking.js';
import { gate, speak, uiScene } from './ui-scene.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heldBytes = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

const STREAMS = 4;
/** As JSON three bytes each, which the client of this test holds; as objects many times as much. */
const OBJECTS = 1_000_000;

test('what a request has said is let go of while its answer is told', { timeout: 60_000 }, async () => {
  const goOn = gate();
  const scene = await uiScene(async (ctx) => {
    await goOn.passed;
    await speak(ctx, 'Hello');
  });
  const ask = (objects: number): Promise<Response> => {
    const last = JSON.stringify(question('hi', uid('question')));
    const body = `{"id":"${uid('chat')}","messages":[${'{},'.repeat(objects)}${last}]}`;
    return scene.request('POST', '/v1/ai-sdk/chat', body);
  };
  const open = [await ask(0)];
  const before = heldBytes();
  for (let stream = 0; stream < STREAMS; stream++) open.push(await ask(OBJECTS));
  expect((heldBytes() - before) / STREAMS / OBJECTS, 'bytes that are held of each object').toBeLessThan(10);
  goOn.open();
  for (const response of open) expect(await response.text()).toContain('[DONE]');
});
