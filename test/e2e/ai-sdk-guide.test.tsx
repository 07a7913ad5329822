import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import '../harness/page.js';
import { fireEvent, render, renderHook, screen } from '@testing-library/react';
import { DefaultChatTransport } from 'ai-6';
import { useChat } from 'ai-sdk-react-6';
import ts from 'typescript';
import { expect, onTestFinished, test } from 'vitest';
import type { Assistant } from '../../assistant/index.js';
import type { UiMessage } from '../../protocol/ai-sdk/index.js';
import { asBytes, Proxy } from '../harness/proxy.js';
import { clientOf } from '../harness/sdk.js';
import { startServer, temporaryDirectory } from '../harness/server.js';
import { Shell } from '../harness/shell.js';
import { until } from '../harness/until.js';
import { browserFetch, lastOf, openTab, textsIn } from '../harness/use-chat.js';
import { gate, sceneAt, uiScene } from './ui-scene.js';
import { sceneOn } from '../contract/assistant-hosts.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GUIDE = readFileSync(join(ROOT, 'docs', 'ai-sdk.md'), 'utf8');
const PACKAGES = ['ai', 'ai-6', 'ai-sdk-react-6', '@ai-sdk/react', 'react', 'socket.io-client', 'zod'];
const HERE = 'http://127.0.0.1:3000';

/** A block of the page that says ```` ```LANGUAGE MARK=NAME ````. */
function blockOf(mark: string, name: string): string {
  const block = new RegExp(`^\`\`\`\\w+ ${mark}=${name.replace('.', '\\.')}\\n(.*?)^\`\`\`$`, 'ms').exec(GUIDE)?.[1];
  if (block === undefined) throw new Error(`docs/ai-sdk.md has no block ${name}`);
  return block;
}

/** A folder in which the page's programs find their packages. */
function workplace(): string {
  const directory = temporaryDirectory();
  const links = [['turnstream', ROOT], ...PACKAGES.map((name) => [name, join(ROOT, 'node_modules', name)])] as const;
  for (const [name, path] of links as readonly (readonly [string, string])[]) {
    const link = join(directory, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(path, link, 'dir');
  }
  return directory;
}

/** What a snippet exports, as it stands on the page; only the server is the test's. */
async function moduleOf<T>(name: string, url: string): Promise<T> {
  const code = blockOf('run', name);
  expect(code.includes(HERE) || !code.includes('http'), 'the address of the server').toBe(true);
  const { outputText } = ts.transpileModule(code.replaceAll(HERE, url), {
    fileName: name,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, jsx: ts.JsxEmit.ReactJSX },
  });
  const path = join(workplace(), `${name}.mjs`);
  writeFileSync(path, outputText);
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as T;
}

const shows = (role: string, text: string): Promise<unknown> =>
  until(
    () => [...document.querySelectorAll(`[data-role=${role}]`)].some((element) => element.textContent === text),
    `${role}: ${text}`,
  );

test('page.tsx and load-messages.ts: a person asks, asks again, stops, and comes back', async () => {
  let answers = 0;
  const scene = await uiScene(async (ctx) => {
    const id = await ctx.send(`Answer ${++answers}`);
    if (answers === 3) await new Promise(() => undefined);
    await ctx.end(id);
  });
  const { Page } = await moduleOf<{ Page: React.FC<{ chatId: string; messages: readonly UiMessage[] }> }>(
    'page.tsx',
    scene.url,
  );
  const { loadMessages } = await moduleOf<{ loadMessages: (chatId: string) => Promise<UiMessage[]> }>(
    'load-messages.ts',
    scene.url,
  );
  const { chatId } = scene;
  expect(await loadMessages(chatId)).toEqual([]);
  const first = render(<Page chatId={chatId} messages={await loadMessages(chatId)} />);
  onTestFinished(first.unmount);
  const send = (text: string): void => {
    fireEvent.change(screen.getByLabelText('Message'), { target: { value: text } });
    fireEvent.click(screen.getByText('Send'));
  };
  send('Hello');
  await shows('assistant', 'Answer 1');
  fireEvent.click(screen.getByText('Again'));
  await shows('assistant', 'Answer 2');
  send('And now?');
  await shows('assistant', 'Answer 3');
  first.unmount();
  const second = render(<Page chatId={chatId} messages={await loadMessages(chatId)} />);
  onTestFinished(second.unmount);
  await shows('assistant', 'Answer 3');
  fireEvent.click(screen.getByText('Stop'));
  const turns = async (): Promise<{ status: string }[]> =>
    (await scene.get<{ turns: { status: string }[] }>(`/v1/chats/${chatId}/turns`)).turns;
  await until(async () => (await turns())[0]?.status === 'interrupted', 'the stop');
  expect((await loadMessages(chatId)).map(textsIn)).toEqual(['Hello', 'Answer 2', 'And now?', 'Answer 3']);
});

test('older.ts: the chat of major 6 is told in the chunks of major 6', async () => {
  const seen = gate();
  const scene = await uiScene(async (ctx) => {
    const id = await ctx.send('Wrong');
    await seen.passed;
    await ctx.replace(id, 'Right');
  });
  interface OlderChat {
    readonly messages: UiMessage[];
    sendMessage(message: object): Promise<void>;
  }
  const { createChat } = await moduleOf<{ createChat: (chatId: string) => OlderChat }>('older.ts', scene.url);
  const chat = createChat(scene.chatId);
  const sent = chat.sendMessage({ text: 'Well?' });
  await until(() => textsIn(lastOf(chat)) === 'Wrong', 'the first words');
  seen.open();
  await sent;
  expect(textsIn(lastOf(chat))).toBe('WrongRight');
  expect(lastOf(chat)?.metadata).toMatchObject({ turnstream: { replaced: [1] } });
});

test('transport.mjs prints what the page says', async () => {
  const { url } = await startServer();
  const directory = workplace();
  writeFileSync(join(directory, 'transport.mjs'), blockOf('run', 'transport.mjs'));
  const program = new Shell('exec node transport.mjs', { cwd: directory, env: { TURNSTREAM_URL: url } });
  expect(await program.ended(), program.output).toBe(0);
  expect(program.output).toBe(blockOf('output', 'transport.mjs'));
});

test('piped.mjs: what the model says is the answer, and its tokens are counted', async () => {
  const { default: poet } = await moduleOf<{ default: Assistant }>('piped.mjs', HERE);
  const { url } = await startServer({ assistants: [poet] });
  const scene = await sceneOn(url);
  const turn = await scene.ask('poet', 'go');
  expect(turn).toMatchObject({ status: 'completed', error: null, usage: { inputTokens: 3, outputTokens: 2 } });
  expect(await scene.answers(turn.requestId)).toEqual(['Hello']);
});

test('the trap of major 6 that the page tells of: the hook that is given a transport shows a beginning twice', async () => {
  const half = gate();
  const scene = await uiScene(async (ctx) => {
    const id = await ctx.send('One ');
    await half.passed;
    await ctx.append(id, 'two');
  });
  const proxy = await Proxy.to(scene.url, asBytes);
  const transport = new DefaultChatTransport({
    api: `${proxy.url}/v1/ai-sdk/chat`,
    headers: { 'x-ai-sdk-version': '6' },
    fetch: browserFetch,
  });
  const { result, unmount } = renderHook(() => useChat({ id: scene.chatId, transport }));
  onTestFinished(unmount);
  const shown = (): string => textsIn(result.current.messages.at(-1) as unknown as UiMessage);
  void result.current.sendMessage({ text: 'count' });
  await until(() => shown() === 'One ', 'the beginning');
  proxy.cut();
  await until(() => result.current.status === 'error', 'the cut');
  half.open();
  await result.current.resumeStream();
  // Once it shows the answer once, the page may be shorter.
  await until(() => shown() === 'One One two', 'the beginning twice');
});

test('the answer to a question of `turnstream/client` is told to a page as well', async () => {
  const { url } = await startServer();
  const scene = sceneAt(url);
  const chat = clientOf(url).chat(scene.chatId);
  await chat.start('from elsewhere', { createChat: true, assistantId: 'echo', metadata: { delayMs: 20 } });
  const tab = openTab({ major: 7, ...scene, resume: true });
  await tab.becomes((hook) => textsIn(lastOf(hook)) === 'from elsewhere' && hook.status === 'ready', 'the answer');
});
