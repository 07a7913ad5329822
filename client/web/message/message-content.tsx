import { Component, type ReactNode } from 'react';
import type { Message } from '../../index.js';
import { ActionResultMessage } from './action-result.js';
import { ActionMessage } from './action.js';
import { ErrorMessage } from './error.js';
import { FileMessage } from './file.js';
import { ImageMessage } from './image.js';
import { LoadingMessage } from './loading.js';
import { OtherMessage } from './other.js';
import { TextMessage } from './text.js';
import { ThinkingMessage } from './thinking.js';
import { ToolCallMessage } from './tool-call.js';
import type { MessageComponent } from './view.js';

const VIEWS = new Map<string, MessageComponent>([
  ['text', TextMessage],
  ['thinking', ThinkingMessage],
  ['tool_call', ToolCallMessage],
  ['image', ImageMessage],
  ['file', FileMessage],
  ['action', ActionMessage],
  ['action_result', ActionResultMessage],
  ['loading', LoadingMessage],
  ['error', ErrorMessage],
]);

/** What a message says, by its type. */
export function MessageContent({ message }: { message: Message }): ReactNode {
  const Shown = VIEWS.get(message.type) ?? OtherMessage;
  return (
    <Unbroken key={message.type}>
      <Shown message={message} />
    </Unbroken>
  );
}

/** One message that cannot be shown does not take the others with it. */
class Unbroken extends Component<{ children: ReactNode }, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    return <p className="text-sm text-muted-foreground">This message cannot be shown.</p>;
  }
}
