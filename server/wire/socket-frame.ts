import type { EventBatch } from '../session/subscriber.js';

/** Engine.IO `message` (4) of a Socket.IO event (2) in the namespace `/`: what `socket.emit('events', …)` would send. */
const packet = (batch: EventBatch): string => `2["events",${batch.json}]`;

/** A batch as it goes out, made once for all connections. */
export interface EncodedEvents {
  /** The Socket.IO packet, as an Engine.IO connection takes it. */
  readonly packet: string;
  /** The whole WebSocket frame: one final, unmasked text frame (RFC 6455, section 5.2). */
  readonly frame: Buffer;
}

export function encodeEvents(batch: EventBatch): EncodedEvents {
  const text = packet(batch);
  return { packet: text, frame: webSocketFrame(`4${text}`) };
}

function webSocketFrame(payload: string): Buffer {
  const length = Buffer.byteLength(payload);
  const header = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(header + length);
  frame[0] = 0x81;
  if (header === 2) frame[1] = length;
  else if (header === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(payload, header);
  return frame;
}
