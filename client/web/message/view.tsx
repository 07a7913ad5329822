import type { ComponentType, ReactNode } from 'react';
import type * as z from 'zod';
import type { Message } from '../../index.js';
import { OtherMessage } from './other.js';

export interface ViewProps<P> {
  readonly message: Message;
  readonly props: P;
}

export type MessageComponent = ComponentType<{ readonly message: Message }>;

/** How a type of message is shown where its props are of the known form; where they are not, it is shown as it came. */
export function view<P>(schema: z.ZodType<P>, Shown: ComponentType<ViewProps<P>>): MessageComponent {
  return function MessageOfType({ message }): ReactNode {
    const { success, data } = schema.safeParse(message.props);
    return success ? <Shown message={message} props={data} /> : <OtherMessage message={message} />;
  };
}
