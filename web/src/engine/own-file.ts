// Files of the page's own folder.

/** Fetches a file of the page. */
export async function fetchOwn(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  return response;
}
