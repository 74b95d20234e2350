/** The bytes of a `data:` URL in base64; fetching it would need a looser content policy. */
export function bytesOf(url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (character) => character.charCodeAt(0));
}
