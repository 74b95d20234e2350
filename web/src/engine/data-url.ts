/** Decodes a base64 `data:` URL. Fetching it would require a less strict content security policy. */
export function bytesOf(url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (character) => character.charCodeAt(0));
}
