// Decode a telemetry frame (protocol version 3) into an object. Used by the gateway's web page and by customers who read
// MQTT themselves. The layout is in telemetry-protocol.md; when the two disagree, that page is right.

const FRAME_BYTES = 19;
const EPOCH_2000 = Date.UTC(2000, 0, 1);
const NOT_MEASURED = -2147483648;
const KINDS = { 0x10: ["level", "m"], 0x11: ["pressure", "bar"], 0x12: ["turbidity", "NTU"], 0x7f: ["event", ""] };

/** CRC-16/CCITT-FALSE: polynomial 0x1021, start value 0xFFFF, nothing reflected. */
export function crc16(bytes) {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
    }
  }
  return crc;
}

/**
 * Decode one frame.
 * @param {Uint8Array} bytes exactly 19 bytes
 * @returns {{kind: string, unit: string, serial: number, time: Date | null, value: number | null, battery: number,
 *            limitCrossed: boolean, selfTestFailed: boolean}}
 * @throws {RangeError} when the length, the version, the kind or the checksum is wrong
 */
export function decodeFrame(bytes) {
  if (bytes.length !== FRAME_BYTES) throw new RangeError(`frame has ${bytes.length} bytes, not ${FRAME_BYTES}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint8(0) !== 3) throw new RangeError(`unknown version ${view.getUint8(0)}`);
  if (view.getUint16(17, true) !== crc16(bytes.subarray(0, 17))) throw new RangeError("checksum does not match");
  const kind = KINDS[view.getUint8(1)];
  if (!kind) throw new RangeError(`unknown kind 0x${view.getUint8(1).toString(16)}`);
  const raw = view.getInt32(10, true);
  const flags = view.getUint8(16);
  return {
    kind: kind[0],
    unit: kind[1],
    serial: view.getUint32(2, true),
    // A clock that was never set: the caller uses the time of arrival.
    time: flags & 4 ? null : new Date(EPOCH_2000 + view.getUint32(6, true) * 1000),
    value: raw === NOT_MEASURED ? null : raw / 1000,
    battery: view.getUint16(14, true) / 1000,
    limitCrossed: Boolean(flags & 1),
    selfTestFailed: Boolean(flags & 2),
  };
}

/** Percent of charge left of a lithium cell, from its voltage; flat between 3.5 and 3.2 volts, then falling fast. */
export function batteryPercent(volts) {
  if (volts >= 3.6) return 100;
  if (volts >= 3.2) return Math.round(40 + ((volts - 3.2) / 0.4) * 60);
  if (volts >= 2.8) return Math.round(((volts - 2.8) / 0.4) * 40);
  return 0;
}
