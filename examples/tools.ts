// An assistant with two tools, on a model of any server that speaks OpenAI's chat API:
//
//     MODEL=gpt-5-mini OPENAI_API_KEY=… ASSISTANTS=examples/tools.ts npx tsx tools/start.mjs
//     npx turnstream say games "Roll three dice. And how warm is it in Oslo?" --assistant helper
//
// OPENAI_BASE_URL names another server, such as http://127.0.0.1:11434/v1.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineAssistant, tool } from 'turnstream/assistant';
import * as z from 'zod';

const {
  MODEL = 'gpt-5-mini',
  OPENAI_API_KEY: apiKey,
  OPENAI_BASE_URL: baseURL = 'https://api.openai.com/v1',
  WEATHER_URL = 'https://api.open-meteo.com/v1/forecast',
} = process.env;

// A model of any other provider of the AI SDK stands here just as well.
const provider = createOpenAICompatible({ name: 'openai', baseURL, includeUsage: true, ...(apiKey ? { apiKey } : {}) });

/** A tool call is a step: in a turn that is resumed, dice that were rolled are not rolled again. */
const roll = tool({
  description: 'Rolls dice of six sides. Gives what each of them shows.',
  inputSchema: z.object({ dice: z.int().min(1).max(20) }),
  execute: ({ dice }) => Array.from({ length: dice }, () => 1 + Math.floor(Math.random() * 6)),
});

/** What comes over a network fails now and then: it is tried three times, and then the model is told. */
const temperature = tool({
  description: 'The temperature at a place now, in degrees Celsius.',
  inputSchema: z.object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) }),
  retry: { attempts: 3, backoffMs: 200 },
  timeoutMs: 5_000,
  onError: 'tell',
  async execute({ latitude, longitude }, _ctx, { abortSignal }) {
    const query = new URLSearchParams({
      latitude: `${latitude}`,
      longitude: `${longitude}`,
      current: 'temperature_2m',
    });
    const response = await fetch(`${WEATHER_URL}?${query}`, { signal: abortSignal });
    if (!response.ok) throw new WeatherError(response.status);
    const { current } = (await response.json()) as { current: { temperature_2m: number } };
    return { celsius: current.temperature_2m };
  },
});

class WeatherError extends Error {
  /** What the default policy looks at: the same question may be answered later, a wrong one never. */
  readonly retryable: boolean;

  constructor(status: number) {
    super(`The weather service answered ${status}.`);
    this.retryable = status >= 500;
  }
}

export default defineAssistant({
  assistantId: 'helper',
  name: 'Helper',
  model: provider(MODEL),
  instructions: 'Answer briefly. Use the tools for dice and for the weather.',
  tools: { roll, temperature },
});
