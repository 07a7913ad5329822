import { describe, expect, test } from 'vitest';
import { wellFormed } from '../../protocol/index.js';
import { expectConsistent } from '../harness/consistent.js';
import { uid } from '../harness/peer.js';
import { Person } from '../harness/person.js';
import { until } from '../harness/until.js';
import type { Run } from '../harness/agent.js';
import { scene, type Scene } from './scene.js';

const HALF = '\ud83d';
const OTHER_HALF = '\ude00';
const FAMILY = '👨‍👩‍👧‍👦';

/** The text of a message everywhere: live, late snapshot and history were compared. */
async function textOf({ url, chatId, person }: Scene, messageId: string): Promise<unknown> {
  const history = await expectConsistent(url, chatId, [person]);
  return history.find((message) => message.messageId === messageId)?.props['content'];
}

async function closed({ person, chatId }: Scene, run: Run): Promise<void> {
  await run.close();
  await person.ended(chatId, run.requestId);
}

describe('DAT-1: text is well-formed, and no pair is ever broken', () => {
  test('C03: a pair split over two appends is joined; nobody ever sees half of it', async () => {
    const here = await scene();
    const run = await here.turn();
    const messageId = await run.send('');
    await run.append(messageId, `a${HALF}`);
    const between = await new Person(here.url).open();
    const late = await between.follow(here.chatId);
    expect(late.messages.at(-1)?.props['content']).toBe('a');
    await run.append(messageId, `${OTHER_HALF}b`);
    await closed(here, run);
    expect(await textOf(here, messageId)).toBe('a😀b');
    await between.ended(here.chatId, run.requestId);
    expect(late.text(run.requestId)).toBe('a😀b');
    const texts = here.view.events.flatMap((event) => (event.type === 'message.appended' ? [event.text] : []));
    expect(texts).toEqual(texts.map(wellFormed));
  });

  test('C03: text that comes unit by unit, in one push and in many', async () => {
    const here = await scene({ env: { COALESCE_MS: '0' } });
    const text = `${FAMILY}𠀀𠮷é${FAMILY}`;
    const run = await here.turn();
    const one = uid('m');
    await run.push(
      { op: 'send', messageId: one, type: 'text', props: {} },
      ...text.split('').map((unit) => ({ op: 'append' as const, messageId: one, text: unit })),
    );
    const many = await run.send('');
    for (const unit of text.split('')) await run.append(many, unit);
    await closed(here, run);
    expect([await textOf(here, one), await textOf(here, many)]).toEqual([text, text]);
  });

  test('C03: a half that nothing completes becomes U+FFFD: at the end of the message, at a stop, before other text', async () => {
    const here = await scene();
    const run = await here.turn();
    const ended = await run.send('');
    await run.push({ op: 'append', messageId: ended, text: `x${HALF}` }, { op: 'end', messageId: ended });
    const broken = await run.send('');
    await run.append(broken, HALF);
    await run.append(broken, 'z');
    await run.append(broken, `${OTHER_HALF}${HALF}${HALF}`);
    await run.append(broken, OTHER_HALF);
    const stopped = await run.send('');
    await run.append(stopped, `y${HALF}`);
    await here.person.do('turn:stop', { chatId: here.chatId, requestId: run.requestId });
    await here.person.ended(here.chatId, run.requestId);
    expect(await textOf(here, ended)).toBe('x\ufffd');
    expect(await textOf(here, broken)).toBe('\ufffdz\ufffd\ufffd😀');
    expect(await textOf(here, stopped)).toBe('y\ufffd');
  });

  test('DAT-1: a held half belongs to its path and is dropped with the text it was cut from', async () => {
    const here = await scene();
    const run = await here.turn();
    const messageId = await run.send('');
    await run.append(messageId, HALF, 'a');
    await run.append(messageId, `b${HALF}`, 'b');
    await run.append(messageId, OTHER_HALF, 'a');
    await run.push({ op: 'set', messageId, path: 'b', value: 'new' });
    await run.append(messageId, OTHER_HALF, 'b');
    await run.append(messageId, HALF);
    await run.push({ op: 'replace', messageId, props: { content: 'c' } });
    await run.append(messageId, OTHER_HALF);
    const { props } = here.view.messages.at(-1)!;
    await closed(here, run);
    expect(await textOf(here, messageId)).toBe('c\ufffd');
    expect(props).not.toHaveProperty('a');
    const shown = here.view.events.flatMap((event) =>
      event.type === 'message.appended' ? [[event.path, event.text]] : [],
    );
    expect(shown).toEqual([
      ['b', 'b'],
      ['a', '😀'],
      ['b', '\ufffd'],
      ['content', '\ufffd'],
    ]);
  });

  test('C26: what people write comes back well-formed from every place that takes text', async () => {
    const here = await scene();
    const { person, chatId } = here;
    const bad = `\ud83cx\0${HALF}`;
    const good = '\ufffdx\ufffd\ufffd';
    const { chat } = await person.do('chat:create', { assistantId: 'bot', title: bad, metadata: { [bad]: [bad] } });
    expect(chat).toMatchObject({ title: good, metadata: { [good]: [good] } });
    expect((await person.do('chat:get', { chatId: chat.chatId })).chat).toEqual(chat);
    const { chat: updated } = await person.do('chat:update', {
      chatId,
      title: bad,
      mode: bad,
      metadata: { [bad]: bad },
    });
    expect(updated).toMatchObject({ title: good, mode: good, metadata: { [good]: good } });
    const found = await person.do('chat:list', { keywords: bad });
    expect(found.data.map((one) => one.title)).toEqual([good, good]);
    const { turn, messages } = await person.start(
      chatId,
      { type: 'text', props: { content: bad, [bad]: [bad] }, metadata: { [bad]: bad } },
      { metadata: { [bad]: bad } },
    );
    expect(turn.metadata).toEqual({ [good]: good });
    expect(messages[0]).toMatchObject({ props: { content: good, [good]: [good] }, metadata: { [good]: good } });
    const { message } = await person.do('message:update', {
      messageId: messages[0]!.messageId,
      props: { content: bad },
      metadata: { [bad]: bad },
    });
    expect(message).toMatchObject({ props: { content: good }, metadata: { [good]: good } });
    await expectConsistent(here.url, chatId, [person]);
    for (const refused of [{ assistantId: 'bot', chatId: bad }, { assistantId: bad }]) {
      expect(await person.refused('chat:create', refused)).toMatchObject({ code: 'bad_request' });
    }
  });

  test('C26: and so does over HTTP what is escaped in a body', async () => {
    const { url, chatId } = await scene();
    const headers = { 'content-type': 'application/json' };
    const body = '{"title":"\\ud83c","metadata":{"\\ud83c":"\\u0000"}}';
    const answer = await fetch(`${url}/v1/chats/${chatId}`, { method: 'PATCH', headers, body });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ chat: { title: '\ufffd', metadata: { '\ufffd': '\ufffd' } } });
    const search = await fetch(`${url}/v1/chats?keywords=${encodeURIComponent('\ufffd')}`);
    expect(await search.json()).toMatchObject({ total: 1 });
  });

  test('DAT-1: what agents write comes back well-formed from every place that takes text', async () => {
    const here = await scene();
    const { person, agent, chatId } = here;
    const bad = `\udc00x\0${HALF}`;
    const good = '\ufffdx\ufffd\ufffd';
    const run = await here.turn();
    const [messageId, stepId] = [uid('m'), uid('s')];
    await run.push(
      { op: 'space.set', key: bad, value: { [bad]: bad } },
      { op: 'step.start', stepId, type: 'tool', input: { [bad]: bad }, metadata: { [bad]: bad } },
      { op: 'send', messageId, type: 'text', props: { content: bad, [bad]: bad }, metadata: { [bad]: bad } },
      { op: 'merge', messageId, value: { merged: { [bad]: bad } } },
      { op: 'set', messageId, path: `set.${bad}`, value: [bad] },
      { op: 'append', messageId, text: bad, path: `appended${bad}` },
      { op: 'merge', messageId, path: bad, value: bad },
      { op: 'step.end', stepId, status: 'completed', output: bad, error: { [bad]: bad } },
      { op: 'signal', name: bad, data: { [bad]: bad } },
      { op: 'end', messageId },
    );
    expect(await run.close('failed', { error: { code: bad, message: bad }, usage: { [bad]: bad } })).toMatchObject({
      turn: { error: { code: good, message: good }, usage: { [good]: good } },
    });
    await person.ended(chatId, run.requestId);
    const history = await expectConsistent(here.url, chatId, [person]);
    expect(history.at(-1)).toMatchObject({
      props: {
        content: good,
        [good]: good,
        merged: { [good]: good },
        set: { [good]: [good] },
        [`appended${good}`]: good,
      },
      metadata: { [good]: good },
    });
    expect(person.signals.map(({ name, data }) => ({ name, data }))).toEqual([{ name: good, data: { [good]: good } }]);
    const { steps } = await person.do('step:list', { requestId: run.requestId });
    expect(steps[0]).toMatchObject({
      input: { [good]: good },
      output: good,
      error: { [good]: good },
      spaceSnapshot: { [good]: { [good]: good } },
    });
    expect(
      await agent.refused('turn:open', { chatId: uid('c'), assistantId: 'bot', createChat: { createdBy: bad } }),
    ).toMatchObject({ code: 'bad_request' });
  });

  test('DAT-1: a name that an agent gives its assistant is greeted with well-formed', async () => {
    const { url, agent } = await scene();
    await agent.do('agent:attach', { agentId: agent.agentId, assistants: [{ assistantId: 'named', name: `N\ud800` }] });
    const other = await new Person(url).open();
    expect(other.hello?.assistants).toContainEqual({ assistantId: 'named', name: 'N\ufffd', available: true });
  });
});

describe('TRN-4: what an assistant writes is what there is', () => {
  test('C16: a replacement after appends leaves exactly itself; appends go on from it', async () => {
    const here = await scene();
    const run = await here.turn();
    const messageId = await run.send('');
    await run.append(messageId, 'Hello');
    await run.append(messageId, ' wor');
    await run.push({ op: 'replace', messageId, props: { content: 'Hello world' } });
    const late = await (await new Person(here.url).open()).follow(here.chatId);
    expect(late.messages.at(-1)?.props['content']).toBe('Hello world');
    await run.append(messageId, '!');
    const shorter = await run.send('a long first draft');
    await run.push(
      { op: 'replace', messageId: shorter, props: { content: 'No' } },
      { op: 'append', messageId: shorter, text: 'w' },
    );
    await closed(here, run);
    expect([await textOf(here, messageId), await textOf(here, shorter)]).toEqual(['Hello world!', 'Now']);
  });

  test('C37: repeats are text like any other', async () => {
    const here = await scene();
    const run = await here.turn();
    const pieces = [...Array<string>(10).fill('ha'), 'foobar', 'bar', '\n', '\n', '\n', '6', '6', '6'];
    const whole = pieces.join('');
    const messageId = await run.send('');
    for (const piece of pieces) await run.append(messageId, piece);
    await run.append(messageId, whole);
    const together = uid('m');
    await run.push(
      { op: 'send', messageId: together, type: 'text', props: {} },
      ...pieces.map((text) => ({ op: 'append' as const, messageId: together, text })),
    );
    await closed(here, run);
    expect(await textOf(here, messageId)).toBe(whole + whole);
    expect(await textOf(here, together)).toBe(whole);
  });

  test('C38: three messages of one turn and three of another, interleaved, never mix', async () => {
    const here = await scene();
    const runs = [await here.turn(), await here.turn({ onBusy: 'parallel' })];
    const ids = await Promise.all(
      runs.flatMap((run) => [run, run, run].map(async (one) => ({ run: one, messageId: await one.send('') }))),
    );
    const pushes: Promise<unknown>[] = [];
    for (let round = 1; round <= 30; round++) {
      for (const [index, { run, messageId }] of ids.entries())
        pushes.push(run.append(messageId, `${'abcdef'[index]}${round},`));
    }
    await Promise.all(pushes);
    for (const run of runs) await closed(here, run);
    for (const [index, { messageId }] of ids.entries()) {
      expect(await textOf(here, messageId)).toBe(
        Array.from({ length: 30 }, (_, round) => `${'abcdef'[index]}${round + 1},`).join(''),
      );
    }
  });

  test('C01: 500 appends in one tick stay in order while others read and the database is slow', async () => {
    const here = await scene();
    const run = await here.turn();
    const messageId = await run.send('');
    const reader = await new Person(here.url).open();
    let isDone = false;
    const reading = (async () => {
      while (!isDone)
        await Promise.all([
          reader.do('message:list', { chatId: here.chatId }),
          reader.do('chat:list'),
          here.person.do('turn:list', { chatId: here.chatId }),
        ]);
    })();
    const appends = Array.from({ length: 500 }, (_, index) => run.append(messageId, `${index},`));
    await until(() => here.view.messages.at(-1)?.props['content'] !== '', 'the first append');
    const answers = await Promise.all(appends);
    isDone = true;
    await reading;
    expect(answers.map(({ seq }) => seq)).toEqual(Array.from({ length: 500 }, (_, index) => index + 2));
    await closed(here, run);
    expect(await textOf(here, messageId)).toBe(Array.from({ length: 500 }, (_, index) => `${index},`).join(''));
    const offsets = here.view.events.map(({ offset }) => offset);
    expect(offsets).toEqual(offsets.map((_, index) => offsets[0]! + index));
  });
});
