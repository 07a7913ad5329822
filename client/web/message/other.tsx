import { Braces } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Message } from '../../index.js';
import { Fold } from '../ui/fold.js';
import { JsonText } from '../ui/json-text.js';

/** A message of a type that this page does not know: as it came. */
export function OtherMessage({ message: { messageId, type, props } }: { message: Message }): ReactNode {
  return (
    <Fold id={messageId} icon={<Braces size={15} />} title={<span className="font-mono text-note">{type}</span>}>
      <JsonText label={`Content of ${type}`} value={props} />
    </Fold>
  );
}
