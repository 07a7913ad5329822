import * as z from 'zod';
import { ValidationError } from './value-error.js';

/**
 * What a model is given beside text. A schema names such fields by `image`, `audio`, `pdf` and `video`; their values are
 * the classes below, which never change, and which stand in JSON as their fields.
 */
abstract class Media {
  /** What the model's client is given in the list of contents. */
  get part(): unknown {
    return this;
  }
}

/** A picture: its source is a path, an address or a `data:` URI, its data base64 where it was read already. */
export class Image extends Media {
  readonly source: string;
  readonly media_type: string;
  readonly data: string | null;

  constructor(fields: z.input<typeof imageFields>) {
    super();
    ({ source: this.source, media_type: this.media_type, data: this.data } = read(imageFields, fields));
    Object.freeze(this);
  }
}

/** A sound. */
export class Audio extends Media {
  readonly source: string;
  readonly data: string | null;
  readonly media_type: string;

  constructor(fields: z.input<typeof audioFields>) {
    super();
    ({ source: this.source, data: this.data, media_type: this.media_type } = read(audioFields, fields));
    Object.freeze(this);
  }
}

/** A document. */
export class PDF extends Media {
  readonly source: string;
  readonly media_type: string;
  readonly data: string | null;

  constructor(fields: z.input<typeof pdfFields>) {
    super();
    ({ source: this.source, media_type: this.media_type, data: this.data } = read(pdfFields, fields));
    Object.freeze(this);
  }
}

/** A film by its address; models are given it as a part of type `video_url`. */
export class VideoURL extends Media {
  readonly url: string;
  readonly fps: number | null;
  readonly detail: string | null;

  constructor(fields: z.input<typeof videoFields>) {
    super();
    ({ url: this.url, fps: this.fps, detail: this.detail } = read(videoFields, fields));
    Object.freeze(this);
  }

  override get part(): unknown {
    const { url, fps, detail } = this;
    return {
      type: 'video_url',
      video_url: { url, ...(fps === null ? {} : { fps }), ...(detail === null ? {} : { detail }) },
    };
  }
}

const data = z.string().nullable().default(null);
const imageFields = z.object({ source: z.string(), media_type: z.string().default('image/jpeg'), data });
const audioFields = z.object({ source: z.string(), data, media_type: z.string().default('audio/wav') });
const pdfFields = z.object({ source: z.string(), media_type: z.string().default('application/pdf'), data });
const videoFields = z.object({
  url: z.string(),
  fps: z.number().nullable().default(null),
  detail: z.string().nullable().default(null),
});

/** @throws {ValidationError} */
function read<S extends z.ZodType>(schema: S, fields: unknown): z.output<S> {
  const result = schema.safeParse(fields);
  if (result.success) return result.data;
  throw new ValidationError(z.prettifyError(result.error));
}

/** Fields of these kinds, for schemas: they take the class and its JSON, and give the class. */
export const image = z.union([z.instanceof(Image), imageFields.transform((fields) => new Image(fields))]);
export const audio = z.union([z.instanceof(Audio), audioFields.transform((fields) => new Audio(fields))]);
export const pdf = z.union([z.instanceof(PDF), pdfFields.transform((fields) => new PDF(fields))]);
export const video = z.union([z.instanceof(VideoURL), videoFields.transform((fields) => new VideoURL(fields))]);

export const isMedia = (value: unknown): value is Media => value instanceof Media;
