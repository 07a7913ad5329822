import { ImageOff } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { linkAddress, pictureAddress, placeOf } from './addresses.js';
import { usePictureOrigins } from './picture-origins.js';

interface PictureProps {
  readonly address: string;
  readonly alt: string;
}

/** A picture, where it may be loaded; else a link that says why it is one. */
export function Picture({ address, alt }: PictureProps): ReactNode {
  const origins = usePictureOrigins();
  const [failed, setFailed] = useState<string | null>(null);
  const source = pictureAddress(address, origins);
  if (source === null) {
    return <PictureLink address={address} alt={alt} why="Pictures from elsewhere are not loaded by themselves." />;
  }
  if (failed === source) return <PictureLink address={address} alt={alt} why="The picture could not be loaded." />;
  return (
    <img
      src={source}
      alt={alt}
      loading="lazy"
      decoding="async"
      referrerPolicy="no-referrer"
      onError={() => setFailed(source)}
      className="my-2 block max-h-112 max-w-full rounded-xl border border-border object-contain"
    />
  );
}

function PictureLink({ address, alt, why }: PictureProps & { why: string }): ReactNode {
  const href = linkAddress(address);
  const name = alt || 'Picture';
  return (
    <span className="my-2 inline-flex max-w-full items-center gap-3 rounded-xl border border-border bg-muted px-3.5 py-2.5 text-sm">
      <ImageOff size={18} className="shrink-0 text-muted-foreground" aria-hidden />
      <span className="min-w-0">
        {href === null ? (
          <span className="block font-medium break-words">{name}</span>
        ) : (
          <a
            href={href}
            target="_blank"
            rel="noopener noreferrer nofollow"
            className="block font-medium break-words underline underline-offset-3"
          >
            {name}
          </a>
        )}
        <span className="block text-note text-muted-foreground">
          {href === null ? (
            'Its address is none that can be opened.'
          ) : (
            <>
              <span className="break-all">{placeOf(address)}</span>. {why}
            </>
          )}
        </span>
      </span>
    </span>
  );
}
