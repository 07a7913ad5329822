import type { ReactNode } from 'react';
import * as z from 'zod';
import { Picture } from '../markdown/picture.js';
import { view, type ViewProps } from './view.js';

const props = z.object({
  url: z.string(),
  alt: z.string().optional().catch(undefined),
  caption: z.string().optional().catch(undefined),
});

function Image({ props: { url, alt, caption } }: ViewProps<z.infer<typeof props>>): ReactNode {
  return (
    <figure>
      <Picture address={url} alt={alt ?? caption ?? ''} />
      {caption && <figcaption className="text-note text-muted-foreground">{caption}</figcaption>}
    </figure>
  );
}

export const ImageMessage = view(props, Image);
