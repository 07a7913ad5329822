import type { ReactNode } from 'react';
import { CodeBlock, CodeBlockCopyButton, useIsCodeFenceIncomplete, type ExtraProps } from 'streamdown';

type Node = NonNullable<ExtraProps['node']>;

/** A block of code with its language, its colours and a button that copies it. */
export function CodeFence({ node }: { node: ExtraProps['node'] }): ReactNode {
  const isIncomplete = useIsCodeFenceIncomplete();
  const code = node?.children[0];
  const language = code?.type === 'element' ? languageOf(code) : '';
  return (
    <CodeBlock
      code={node ? textOf(node) : ''}
      language={language}
      isIncomplete={isIncomplete}
      lineNumbers={false}
      // What scrolls has to be reached by keys.
      tabIndex={0}
      role="group"
      aria-label={language ? `Code, ${language}` : 'Code'}
    >
      <CodeBlockCopyButton aria-label="Copy code" />
    </CodeBlock>
  );
}

function languageOf({ properties }: Node): string {
  const names = [properties['className']].flat();
  const name = names.find((one) => typeof one === 'string' && one.startsWith('language-'));
  return typeof name === 'string' ? name.slice('language-'.length) : '';
}

function textOf(node: Node | Node['children'][number]): string {
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(textOf).join('') : '';
}
