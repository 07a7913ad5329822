import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import type { ReactNode } from 'react';
import { Streamdown, type Components, type StreamdownProps } from 'streamdown';
import { linkAddress } from './addresses.js';
import { isBearable } from './bearable.js';
import { CodeFence } from './code-fence.js';
import { highlighterPlugin } from './highlighter.js';
import { Picture } from './picture.js';

/**
 * What is left of what a model wrote. HTML in it never becomes elements: without rehype-raw it is shown as the text that it
 * is. Nothing keeps an id or a name, by which a message could pass itself off as a part of the page.
 */
const SCHEMA: typeof defaultSchema = {
  ...defaultSchema,
  attributes: Object.fromEntries(
    Object.entries(defaultSchema.attributes ?? {}).map(([tag, names]) => [
      tag,
      names.filter((name) => !['id', 'name', 'ariaDescribedBy', 'ariaLabelledBy'].includes([name].flat()[0] as string)),
    ]),
  ),
};
const REHYPE: NonNullable<StreamdownProps['rehypePlugins']> = [[rehypeSanitize, SCHEMA]];

const COMPONENTS: Components = {
  a: ({ href, children }) => <Link address={href ?? ''}>{children}</Link>,
  img: ({ src, alt }) => <Picture address={typeof src === 'string' ? src : ''} alt={alt ?? ''} />,
  input: ({ checked }) => <input type="checkbox" disabled checked={checked} aria-label={checked ? 'Done' : 'To do'} />,
  table: ({ children }) => <Table>{children}</Table>,
  pre: ({ node }) => <CodeFence node={node} />,
};
const CONTROLS: NonNullable<StreamdownProps['controls']> = {
  code: { copy: true, download: false },
  table: false,
  mermaid: false,
  image: false,
};
const PLUGINS = { code: highlighterPlugin };

/** Text of an assistant. @param isOpen whether more of it may come: what has begun is shown as if it were complete */
export function Markdown({ text, isOpen }: { text: string; isOpen: boolean }): ReactNode {
  if (!isBearable(text)) return <div className="prose font-mono text-sm whitespace-pre-wrap">{text}</div>;
  return (
    <Streamdown
      className="prose"
      components={COMPONENTS}
      controls={CONTROLS}
      lineNumbers={false}
      parseIncompleteMarkdown={isOpen}
      plugins={PLUGINS}
      rehypePlugins={REHYPE}
    >
      {text}
    </Streamdown>
  );
}

function Table({ children }: { children: ReactNode }): ReactNode {
  return (
    // What scrolls has to be reached by keys.
    <div tabIndex={0} role="group" aria-label="Table" className="my-3 overflow-x-auto rounded-xl border border-border">
      <table className="w-full border-collapse text-sm">{children}</table>
    </div>
  );
}

function Link({ address, children }: { address: string; children: ReactNode }): ReactNode {
  // Notes at the foot lead to places that have no ids here.
  const href = address.startsWith('#') ? null : linkAddress(address);
  if (href === null) return <span>{children}</span>;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="font-medium text-primary underline decoration-1 underline-offset-3"
    >
      {children}
    </a>
  );
}
