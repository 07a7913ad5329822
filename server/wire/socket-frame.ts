import type { EventBatch } from '../session/subscriber.js';

/** A Socket.IO event (2) in the namespace `/` as it goes out: what `socket.emit(name, body)` would send. */
export interface EncodedEvent {
  /** The Socket.IO packet, as an Engine.IO connection takes it. */
  readonly packet: string;
  /** The whole WebSocket frame: one final, unmasked text frame (RFC 6455, section 5.2). */
  readonly frame: Buffer;
}

/** A batch, made once for all connections. */
export const encodeEvents = (batch: EventBatch): EncodedEvent => encoded('events', batch.json);

export const encodeEvent = (name: 'signal' | 'presence' | 'unsubscribed', body: unknown): EncodedEvent =>
  encoded(name, JSON.stringify(body));

/** In its Engine.IO `message` (4). */
function encoded(name: string, json: string): EncodedEvent {
  const packet = `2["${name}",${json}]`;
  return { packet, frame: webSocketFrame(`4${packet}`) };
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
