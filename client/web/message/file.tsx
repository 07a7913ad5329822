import { FileText } from 'lucide-react';
import type { ReactNode } from 'react';
import * as z from 'zod';
import { linkAddress, placeOf } from '../markdown/addresses.js';
import { view, type ViewProps } from './view.js';

const props = z.object({
  url: z.string(),
  filename: z.string().optional().catch(undefined),
  size: z.number().optional().catch(undefined),
});

const SIZES = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

function sizeText(bytes: number): string {
  const step = Math.min(SIZES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${Number((bytes / 1000 ** step).toPrecision(3))} ${SIZES[step]}`;
}

function File({ props: { url, filename, size } }: ViewProps<z.infer<typeof props>>): ReactNode {
  const href = linkAddress(url);
  const name = filename || placeOf(url);
  const notes = [size === undefined ? null : sizeText(size), href === null ? 'cannot be opened' : placeOf(href)];
  const inside = (
    <>
      <FileText size={20} className="shrink-0 text-muted-foreground" aria-hidden />
      <span className="min-w-0">
        <span className="block truncate text-sm font-medium">{name}</span>
        <span className="block truncate text-note text-muted-foreground">{notes.filter(Boolean).join(' · ')}</span>
      </span>
    </>
  );
  const box = 'my-1 inline-flex max-w-full items-center gap-3 rounded-xl border border-border bg-card px-3.5 py-2.5';
  if (href === null) return <div className={box}>{inside}</div>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className={`${box} hover:bg-accent`}>
      {inside}
    </a>
  );
}

export const FileMessage = view(props, File);
