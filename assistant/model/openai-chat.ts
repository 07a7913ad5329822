import type { Model } from './model.js';

/** A model, and the server where it is. */
export interface OpenAiChat {
  /** Where the API is, `/v1` included: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** For servers that want one. */
  readonly apiKey?: string | undefined;
  /** The model's name there. */
  readonly model: string;
}

/** Keys of servers that want none are words like `none`, which may stand in any sentence. */
const MIN_SECRET = 8;

/** Makes a model on any server that speaks OpenAI's chat API, when it is first called and once. */
export function openAiModel({ baseUrl, apiKey, model }: OpenAiChat): () => Promise<Model> {
  let made: Promise<Model> | null = null;
  const make = async (): Promise<Model> => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const isSecret = apiKey !== undefined && apiKey.length >= MIN_SECRET;
    const provider = createOpenAICompatible({
      name: 'openai',
      baseURL: baseUrl,
      includeUsage: true,
      ...(apiKey ? { apiKey } : {}),
      ...(isSecret ? { fetch: fetchWithout(apiKey) } : {}),
    });
    return provider(model);
  };
  return () => (made ??= make());
}

/** Servers quote the key that they refuse; it ends in an error that people see. */
const fetchWithout =
  (secret: string): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok) return response;
    const { status, statusText, headers } = response;
    const kept = ['content-type', 'retry-after', 'retry-after-ms', 'date'].flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as [string, string]];
    });
    const body = (await response.text()).replaceAll(secret, '[redacted]');
    return new Response(body, { status, statusText, headers: kept });
  };
