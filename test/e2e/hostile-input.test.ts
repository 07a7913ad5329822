import { describe, expect, test } from 'vitest';
import { agentCommands, commands, ERROR_CODES, type Ack } from '../../protocol/index.js';
import { Agent } from '../harness/agent.js';
import { expectConsistent } from '../harness/consistent.js';
import { RawSocket } from '../harness/raw-socket.js';
import { until } from '../harness/until.js';
import { scene } from './scene.js';

const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
const SHAPES: readonly [string, string][] = [
  ['no arguments', ''],
  ['null', ',null'],
  ['a number', ',42'],
  ['an empty text', ',""'],
  ['a list', ',[]'],
  ['an empty object', ',{}'],
  ['deep nesting', `,${deep}`],
  ['deep nesting where an id belongs', `,{"chatId":${deep},"requestId":${deep},"messageId":${deep}}`],
  ['wrong types', ',{"chatId":1,"requestId":[],"messageId":{},"input":false,"limit":"x","token":0,"ops":{},"seq":-1}'],
  ["an id of an object's own", ',{"chatId":"__proto__","requestId":"constructor","messageId":"toString"}'],
  ['a thousand arguments', ',{}'.repeat(1000)],
];

const people = Object.entries(commands).flatMap(([name, { socket }]) => (socket ? [name] : []));

/** Whether an answer has the form of CON-4. */
function expectAck(ack: Ack<unknown>, what: string): void {
  if (ack.ok) return;
  expect(ERROR_CODES, what).toContain(ack.error.code);
  expect(['internal', 'storage_unavailable'], what).not.toContain(ack.error.code);
  expect(ack.error.message, what).not.toMatch(/\bat .*:\d+|node_modules|ZodError|reading '/);
}

describe('CON-4, C07: whatever the arguments', () => {
  test.each([
    ['people', '', people],
    ['agents', '/agents', Object.keys(agentCommands)],
  ])(
    'CON-4: every command of %s answers every shape of arguments, while a stream of others runs without a gap',
    async (_who, namespace, names) => {
      const here = await scene();
      const run = await here.turn();
      const messageId = await run.send('');
      const raw = await RawSocket.open(here.url, { userId: 'mallory', ...(namespace ? { namespace } : {}) });
      const head = (type: string) => `4${type}${namespace ? `${namespace},` : ''}`;
      let sent = 0;
      for (const name of [...names, 'nothing', '__proto__', 'toString', '']) {
        for (const [what, shape] of SHAPES) {
          const id = ++sent;
          raw.send(`${head('2')}${id}["${name}"${shape}]`);
          void run.append(messageId, `${id},`);
          const packet = await raw.packet(
            (text) => text.startsWith(`${head('3').slice(1)}${id}[`),
            `${name} with ${what}`,
          );
          expectAck((JSON.parse(packet.slice(packet.indexOf('['))) as [Ack<unknown>])[0], `${name} with ${what}`);
          // The same without an ack, and with something else in its place: served, not answered.
          raw.send(`${head('2')}["${name}"${shape}]`);
          raw.send(`${head('2')}["${name}"${shape},"ack"]`);
        }
      }
      raw.send(`${head('2')}[42,{}]`);
      expect(raw.closed).toBeNull();
      await run.close();
      await here.person.ended(here.chatId, run.requestId);
      expect(here.view.text(run.requestId)).toBe(Array.from({ length: sent }, (_, index) => `${index + 1},`).join(''));
      await expectConsistent(here.url, here.chatId, [here.person]);
    },
  );

  test('CON-4: a command without an ack function is served all the same', async () => {
    const { url, chatId, person } = await scene();
    const raw = await RawSocket.open(url);
    raw.send(`42["chat:update",{"chatId":"${chatId}","title":"silent"}]`);
    raw.send(
      `42["turn:start",{"chatId":"${chatId}","input":"x","assistantId":"echo","requestId":"silent","metadata":{"delayMs":0}},"no function"]`,
    );
    await person.ended(chatId, 'silent');
    expect((await person.do('chat:get', { chatId })).chat.title).toBe('silent');
  });

  test('C07: frames that cannot be read end their own connection and no other', async () => {
    const here = await scene();
    const run = await here.turn();
    const messageId = await run.send('');
    const garbage: (string | Buffer)[] = [
      '42{}',
      '42["disconnect"]',
      '42[',
      '42null',
      '42[{}]',
      '47',
      '4',
      'x',
      '9',
      '451-["chat:get",{"_placeholder":true,"num":1}]',
      '4511-[]',
      '45-[]',
      Buffer.from([1, 2, 3]),
      `4${'5'.repeat(1000)}`,
      '42/nowhere,["chat:get"]',
      '430[]',
      '43',
      '44"x"',
    ];
    let sent = 0;
    for (const frame of garbage) {
      const raw = await RawSocket.open(here.url);
      raw.send(frame);
      if (frame.toString().startsWith('451-')) raw.send(Buffer.from('x'));
      await run.append(messageId, `${++sent},`);
      // Either it was closed, or it goes on as if nothing had been.
      raw.send('429999["chat:list",{}]');
      await until(
        () => raw.closed !== null || raw.packets.some((packet) => packet.startsWith('39999')),
        `an end or an answer after ${String(frame)}`,
      );
    }
    expect(await here.person.ask('chat:get', { chatId: here.chatId })).toMatchObject({ ok: true });
    await run.close();
    await here.person.ended(here.chatId, run.requestId);
    expect(here.view.text(run.requestId)).toBe(garbage.map((_, index) => `${index + 1},`).join(''));
  });

  test('C07: an agent that answers an assignment with anything gets no turn by it, and nobody else notices', async () => {
    const here = await scene();
    const strange = new Agent(here.url, ['odd']);
    await strange.join();
    strange.socket.off('turn:assigned');
    const answers: unknown[] = [null, 42, 'yes', [], {}, { ok: 'true' }, { ok: false }, { ok: { ok: true } }];
    let asked = 0;
    strange.socket.on('turn:assigned', (_assignment: unknown, ack: (answer?: unknown) => void) => {
      ack(answers[asked++]);
      ack({ ok: true });
    });
    for (let index = 0; index < answers.length; index++) {
      const { turn } = await here.person.start(here.chatId, 'x', { assistantId: 'odd', onBusy: 'parallel' });
      await until(() => asked === index + 1, 'an assignment');
      await here.person.do('turn:stop', { chatId: here.chatId, requestId: turn.requestId });
      expect((await here.person.turn(turn.requestId)).status).toBe('interrupted');
    }
    expect(await strange.ask('turn:input', { requestId: 'x' })).toMatchObject({ ok: false });
  });
});
