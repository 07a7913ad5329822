import { useSyncExternalStore, type ComponentType, type ReactNode } from 'react';
import { Held } from '../../store.js';

interface MarkdownProps {
  readonly text: string;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
}

// Half of the page's script lays out Markdown. It is fetched while the page connects, and nothing waits for it: React's own
// `lazy` would show the plain text for a moment even where it has long come.
const shown = new Held<ComponentType<MarkdownProps>>(Plain);
import('./markdown.js').then(
  ({ Markdown }) => shown.set(Markdown),
  () => undefined,
);

/** Text of an assistant: laid out once what does that is here, and as it stands until then. */
export function LazyMarkdown(props: MarkdownProps): ReactNode {
  const Shown = useSyncExternalStore(shown.subscribe, shown.getSnapshot);
  return <Shown {...props} />;
}

function Plain({ text }: MarkdownProps): ReactNode {
  return <div className="prose whitespace-pre-wrap">{text}</div>;
}
