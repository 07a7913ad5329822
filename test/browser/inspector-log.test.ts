import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { describeInBrowser } from '../harness/browser.js';
import { temporaryDirectory } from '../harness/server.js';
import { Person } from '../harness/person.js';
import { ServerProcess } from '../harness/server-process.js';
import { JWT_ENV, tokenFor } from '../harness/tokens.js';
import { chatWithRun, currentLine, inspect, logPane, nestedTurn, viewPane } from './inspector-scene.js';
import { PAYLOADS } from './payloads.js';
import { expectNoFaults, openPage, personAt, startScene, untilPage } from './scene.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A folder in which the package and vitest are installed, as a reader of the inspector has it. */
function packageFolder(): string {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules', 'turnstream'), 'dir');
  symlinkSync(join(ROOT, 'node_modules', 'vitest'), join(folder, 'node_modules', 'vitest'), 'dir');
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

/** Runs a test that was copied. @returns the exit code of vitest and what it said */
async function runCopied(folder: string, name: string, text: string): Promise<{ code: unknown; said: string }> {
  writeFileSync(join(folder, name), text);
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--root', folder, name], {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, said };
}

describeInBrowser('the log in the inspector', () => {
  it('is copied as a test case that runs as it is, and fails where the view is another', async () => {
    const scene = await startScene();
    const person = await personAt(scene.server.url);
    const { chatId } = await nestedTurn(scene, person);
    const { page } = await inspect(scene, chatId);
    await currentLine(page).filter({ hasText: 'turn.ended' }).waitFor();
    for (let back = 0; back < 6; back++) await page.keyboard.press('ArrowLeft');
    await page.getByRole('button', { name: 'Copy as a test case' }).click();
    await page.getByText('Copied: a test for vitest, of the log up to here.', { exact: true }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text).toContain('TP 531');

    const folder = packageFolder();
    const [whole, broken] = await Promise.all([
      runCopied(folder, 'copied.test.ts', text),
      runCopied(
        folder,
        'broken.test.ts',
        text.replace(/("from":0,"text":"|"content":")I will look\./, '$1I will not.'),
      ),
    ]);
    expect(whole.said).toContain('1 passed');
    expect(whole.code).toBe(0);
    expect(broken.said).toContain('1 failed');
  });

  it('SUB-2: begins with what stood there where the server replays no more, and says so; 2,000 events are smooth', async () => {
    const scene = await startScene();
    const person = await personAt(scene.server.url);
    const { chatId, run } = await chatWithRun(scene, person);
    const messageId = await run.send('first');
    const set = (value: number) => ({ op: 'set' as const, messageId, path: 'count', value });
    const push = (from: number, count: number) =>
      run.push(...Array.from({ length: count }, (_, index) => set(from + index)));
    for (let sent = 0; sent < 1_100; sent += 100) await push(sent, 100);

    const tab = await inspect(scene, chatId);
    const { page } = tab;
    await logPane(page).getByText('count = 1099').waitFor();
    await currentLine(page).filter({ hasText: 'From here on every message of the view is known' }).waitFor();
    await page.keyboard.press('Home');
    await currentLine(page)
      .filter({ hasText: /The server replays nothing before #\d+/ })
      .waitFor();
    await viewPane(page).getByText('One message is left out here').waitFor();
    await page.keyboard.press('End');
    await viewPane(page).getByText('"count": 1099').waitFor();
    await viewPane(page).getByText('first', { exact: true }).waitFor();

    await page.evaluate(() => {
      const seen = window as unknown as { longestFrame: number };
      seen.longestFrame = 0;
      let last = performance.now();
      const look = (): void => {
        const now = performance.now();
        seen.longestFrame = Math.max(seen.longestFrame, now - last);
        last = now;
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    for (let sent = 1_100; sent < 2_300; sent += 20) await push(sent, 20);
    await currentLine(page).filter({ hasText: 'count = 2299' }).waitFor();
    expect(await logPane(page).getByRole('option').count(), 'only what is in sight is in the page').toBeLessThan(120);
    const offset = Number(/^(\d+)/.exec(await currentLine(page).innerText())?.[1]);
    for (let back = 0; back < 40; back++) await page.keyboard.press('Shift+ArrowLeft');
    await viewPane(page)
      .getByText(`The view at #${offset - 400}`)
      .waitFor();
    await viewPane(page).getByText('"count": 1899').waitFor();
    const longest = await page.evaluate(() => (window as unknown as { longestFrame: number }).longestFrame);
    expect(longest, 'the longest time without a frame, milliseconds').toBeLessThan(1_000);
    expectNoFaults(tab);
  });

  it('shows forty ways to inject as text, in every field of events, steps and chats', async () => {
    const scene = await startScene();
    const { url } = scene.server;
    const person = await personAt(url);
    const all = PAYLOADS.join('\n');
    const { chatId, run } = await chatWithRun(scene, person, all);
    const title = all.slice(0, 500);
    await person.do('chat:update', { chatId, title, metadata: { [all]: all } });
    const tab = await openPage(`${url}/inspector/${chatId}`, { viewport: { width: 1280, height: 800 } });
    const { page } = tab;
    const harm: string[] = [];
    page.on('dialog', (dialog) => void dialog.dismiss().then(() => harm.push(dialog.message())));
    page.on('request', (request) => new URL(request.url()).origin === url || harm.push(request.url()));
    const stepId = 's'.repeat(20);
    await run.push(
      { op: 'space.set', key: all.slice(0, 100), value: all },
      { op: 'step.start', stepId, type: 'tool', input: PAYLOADS, metadata: { name: all, [all]: all } },
    );
    const messageId = await run.send('');
    for (const payload of PAYLOADS) {
      const middle = Math.floor(payload.length / 2);
      await run.append(messageId, payload.slice(0, middle));
      await run.append(messageId, payload.slice(middle));
    }
    await run.push({ op: 'send', messageId: 'm'.repeat(20), type: PAYLOADS[2]!.slice(0, 50), props: { [all]: [all] } });
    await run.push({ op: 'step.end', stepId, status: 'failed', output: { [all]: all }, error: all });
    await run.close('failed', { error: { code: all, message: all }, usage: { [all]: 1 } });

    await currentLine(page).filter({ hasText: 'turn.ended' }).waitFor();
    await page.getByRole('button', { name: /^tool / }).click();
    await page.getByRole('button', { name: /^<img / }).click();
    await page.getByRole('group', { name: 'Space when it began' }).waitFor();
    const intruders = (): string[] => [
      ...[...document.querySelectorAll('body *')].flatMap((element) =>
        [...element.attributes]
          .filter(({ name, value }) => name.startsWith('on') || /^\s*(javascript|vbscript|data):/i.test(value))
          .map(({ name, value }) => `${element.tagName} ${name} ${value}`),
      ),
      ...[...document.querySelectorAll('main :is(script, iframe, object, embed, form, style, img, video, a)')].map(
        ({ outerHTML }) => outerHTML,
      ),
      ...('pwned' in window ? ['something ran'] : []),
    ];
    const isText = (words: string): Promise<void> => viewPane(page).getByText(words).first().waitFor();
    await isText('<script>window.pwned=1</script>');
    for (let back = 0; back < 90; back++) {
      await page.keyboard.press('ArrowLeft');
      expect(await page.evaluate(intruders)).toEqual([]);
    }
    await page.getByRole('button', { name: /choose another chat/ }).click();
    await page.getByRole('dialog').getByRole('listitem').waitFor();
    expect(await page.evaluate(intruders)).toEqual([]);
    expect(harm).toEqual([]);
    expectNoFaults(tab);
  });

  it('CON-1, CON-5: is shown to the one whose token is given, and goes on under the next one', async () => {
    const { url } = await new ServerProcess({ ...JWT_ENV, AUTH_GRACE_MS: '0' }).start();
    const token = (seconds: number) => tokenFor({ userId: 'ann' }, { expiresIn: seconds });
    const ann = await new Person(url).open({ token: await token(600) });
    const chatId = await ann.createChat();
    await ann.start(chatId, 'words of ann', { metadata: { delayMs: 0 } });
    const { page } = await openPage(`${url}/inspector/${chatId}`);
    const dialog = page.getByRole('dialog', { name: 'Your token' });
    const give = async (text: string): Promise<void> => {
      await dialog.getByRole('textbox', { name: 'Token' }).fill(text);
      await dialog.getByRole('button', { name: 'Sign in' }).click();
    };
    await give(await token(3));
    await currentLine(page).filter({ hasText: 'turn.ended' }).waitFor();
    await dialog.waitFor();
    await give(await token(600));
    await dialog.waitFor({ state: 'detached' });
    await ann.start(chatId, 'words under another token', { metadata: { delayMs: 0 } });
    await untilPage(page, (words) => document.body.innerText.includes(words), 'words under another token');
    expect(await logPane(page).getByText('The server began another log').count()).toBe(0);
  });
});
