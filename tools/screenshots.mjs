// node tools/screenshots.mjs: pictures of the page's main states, for docs/images. Serves what is built on a free port, with
// an assistant of its own whose pace it holds, and drives Chromium as its readers.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { findBrowser } from './browser.mjs';
import { prepareOrExit } from './prepare.mjs';
import { root } from './run.mjs';

await prepareOrExit();
// Of dist, which has to be there first.
const { attachAgent, defineAssistant } = await import('turnstream/agent');
const { createChatClient } = await import('turnstream/client');

const browserPath = findBrowser();
if (browserPath === '') {
  console.error('turnstream: there is no Chromium on this machine; TEST_BROWSER names another browser');
  process.exit(1);
}
const images = join(root, 'docs', 'images');
mkdirSync(images, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), 'turnstream-screenshots-'));
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

const ANSWER = `It is **7.4 °C** in Oslo now, and it stays dry until the evening.

| Day | High | Low | Rain |
|---|---:|---:|---|
| Today | 9 °C | 3 °C | after 19:00 |
| Tomorrow | 11 °C | 5 °C | none |

The same in your own program:

\`\`\`ts
const { celsius } = await temperature({ latitude: 59.91, longitude: 10.75 });
if (celsius < 10) console.log('Take a jacket.');
\`\`\`

1. Leave before noon, while it is dry.
2. Take a jacket along for the way back.`;

/** Holds the answers where a picture is taken of them. */
let holdAt = null;
let release = () => undefined;
function holding(place) {
  if (holdAt !== place) return Promise.resolve();
  return new Promise((resolve) => {
    release = resolve;
  });
}

const guide = defineAssistant({
  assistantId: 'guide',
  name: 'Guide',
  async run(ctx) {
    const thought = await ctx.send({ type: 'thinking', props: { content: '' } });
    await ctx.append(
      thought,
      'The place comes first: Oslo lies at 59.91, 10.75. Then the weather there, and what to wear.',
    );
    await ctx.end(thought);
    for (const [tool, input, output] of [
      ['find_place', { name: 'Oslo' }, { latitude: 59.91, longitude: 10.75 }],
      ['temperature', { latitude: 59.91, longitude: 10.75 }, { celsius: 7.4, rain: false }],
    ]) {
      const call = await ctx.send({ type: 'tool_call', props: { toolCallId: tool, tool, input, state: 'running' } });
      await holding(tool);
      await ctx.merge(call, { state: 'completed', output });
      await ctx.end(call);
    }
    const answer = await ctx.send('');
    const half = ANSWER.indexOf('The same in');
    await ctx.append(answer, ANSWER.slice(0, half));
    await holding('half');
    await ctx.append(answer, ANSWER.slice(half));
    await ctx.end(answer);
    await ctx.send({
      type: 'action',
      props: {
        buttons: [
          { label: 'Plan the day', value: 'plan' },
          { label: 'Another city', value: 'other' },
        ],
      },
    });
  },
});

/** Its turn has what the inspector shows: calls below one another, a failure that was handled, things that take their time. */
const planner = defineAssistant({
  assistantId: 'planner',
  name: 'Planner',
  async run(ctx) {
    ctx.space.set('city', 'Lisbon');
    await ctx.step('llm', { model: 'planner-large', prompt: 'Plan a weekend in Lisbon for two.' }, async () => {
      await setTimeout(180);
      const id = await ctx.send('');
      for await (const word of words('Flights first, then what is worth seeing.')) await ctx.append(id, word);
      await ctx.end(id);
      return { next: 'flights' };
    });
    ctx.space.set('travellers', 2);
    await ctx.delegate('flights', 'Berlin to Lisbon, Friday to Sunday, for two');
    await ctx.step('llm', { model: 'planner-large', prompt: 'Write the plan.' }, async () => {
      await setTimeout(120);
      const id = await ctx.send('');
      const plan =
        'Saturday: Alfama in the morning, the tile museum after lunch, fado at night. Sunday: Sintra by train.';
      for await (const word of words(plan)) await ctx.append(id, word);
      await ctx.end(id);
      return null;
    });
  },
});
const flights = defineAssistant({
  assistantId: 'flights',
  async run(ctx) {
    const found = { flight: 'TP 531', price: 129 };
    await ctx.step('tool', { tool: 'search_flights', from: 'BER', to: 'LIS', seats: 2 }, async () => {
      await setTimeout(320);
      return [found];
    });
    ctx.space.set('flight', found.flight);
    try {
      await ctx.step('tool', { tool: 'check_price', flight: found.flight }, async () => {
        await setTimeout(150);
        throw new Error('The airline did not answer.');
      });
    } catch {
      // The price of the search will do.
    }
    await ctx.step('llm', { model: 'small', prompt: 'Say it in one line.' }, async () => {
      await setTimeout(90);
      await ctx.send(`Flight ${found.flight} at ${found.price} € for each.`);
      return null;
    });
    return found;
  },
});
async function* words(text) {
  for (const word of text.split(/(?= )/)) {
    await setTimeout(12);
    yield word;
  }
}

const env = {
  ...process.env,
  PORT: '0',
  DATA_DIR: dataDir,
  DATABASE_URL: '',
  REDIS_URL: '',
  AUTH_MODE: 'none',
  LOG_LEVEL: 'silent',
};
const server = spawn(process.execPath, [join(root, 'dist', 'server', 'main.js'), 'serve'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const url = await new Promise((resolve, reject) => {
  server.once('exit', () => reject(new Error('the server ended')));
  server.stdout.on('data', (line) => {
    const told = /listening on (http:\S+)/.exec(String(line));
    if (told) resolve(told[1]);
  });
});
const agent = attachAgent({ url, agentId: 'guide-1', assistants: [guide, planner, flights] });
const client = createChatClient({ url, auth: { userId: 'ann', teamId: 'local' } });
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });

async function open(path, { name = 'ann', ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1200, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  });
  await context.addInitScript((kept) => localStorage.setItem('turnstream.name', kept), name);
  const page = await context.newPage();
  await page.goto(url + path);
  if (!path.startsWith('/inspector')) await page.getByRole('img', { name: 'You are up to date' }).waitFor();
  return page;
}

async function picture(page, name) {
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(images, `${name}.png`), animations: 'disabled', caret: 'hide' });
  console.log(`docs/images/${name}.png`);
}

async function ask(page, text) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

try {
  await new Promise((resolve) => {
    const look = () => agent.state.getSnapshot().attached && resolve();
    agent.state.subscribe(look);
    look();
  });
  for (const title of [
    'Notes on the migration',
    'A name for the boat',
    'Bread without yeast',
    'Questions for the landlord',
  ]) {
    await client.call('chat:create', { assistantId: 'guide', title });
  }
  await picture(await open('/'), 'page-new');

  const { chat } = await client.call('chat:create', {
    assistantId: 'guide',
    title: 'What to wear in Oslo',
    share: 'team',
  });
  const path = `/chats/${chat.chatId}`;
  const dark = await open(path, { colorScheme: 'dark' });
  const other = await open(path, { name: 'bob' });
  holdAt = 'temperature';
  await ask(dark, 'I am in Oslo today. Do I need a jacket?');
  await dark.getByText('Running').waitFor();
  await ask(dark, 'And tomorrow?');
  await other.getByRole('textbox', { name: 'Message' }).fill('I would');
  await dark.getByText('bob is typing').waitFor();
  await dark.getByRole('button', { name: /find_place/ }).click();
  await picture(dark, 'page-streaming');

  holdAt = null;
  release();
  await dark.getByRole('button', { name: 'Plan the day' }).nth(1).waitFor();
  await other.close();
  const light = await open(path);
  await light.getByText('Take a jacket.').last().waitFor();
  await light.locator('[data-streamdown="code-block-body"] [style*="--shiki-dark"]').last().waitFor();
  await picture(light, 'page-light');
  const phone = await open(path, {
    viewport: { width: 390, height: 780 },
    isMobile: true,
    hasTouch: true,
    deviceScaleFactor: 1.5,
  });
  await phone.locator('[data-streamdown="code-block-body"] [style*="--shiki-dark"]').last().waitFor();
  await picture(phone, 'page-phone');

  const trip = await client.call('chat:create', { assistantId: 'planner', title: 'A weekend in Lisbon' });
  const inspector = await open(`/inspector/${trip.chat.chatId}`, { viewport: { width: 1280, height: 720 } });
  await inspector.getByRole('button', { name: 'live' }).waitFor();
  await client.chat(trip.chat.chatId).start('Plan a weekend in Lisbon for the two of us.');
  await inspector.getByRole('option', { selected: true }).filter({ hasText: 'turn.ended' }).waitFor();
  await inspector.getByRole('button', { name: /^tool search_flights/ }).click();
  for (let back = 0; back < 16; back++) await inspector.keyboard.press('ArrowLeft');
  await picture(inspector, 'inspector');

  holdAt = 'half';
  await ask(light, 'Once more, please.');
  await light.getByText('after 19:00').last().waitFor();
  server.kill('SIGKILL');
  await light.getByRole('status', { name: 'Connection' }).getByText('Reconnecting').waitFor();
  await picture(light, 'page-reconnecting');
} finally {
  await browser.close();
  client.close();
  server.kill('SIGKILL');
  await Promise.race([agent.close(), once(server, 'exit')]);
}
process.exit(0);
