// Proves that the generated types describe a client one can use.
import createClient from "openapi-fetch";
import type { paths } from "./dermaga";

const api = createClient<paths>({ baseUrl: "http://127.0.0.1:8080" });

export async function cheapest(from: string, to: string, date: string): Promise<number | undefined> {
  const { data, error } = await api.POST("/v1/speedboats/search", {
    body: { from, to, date, qty: 1, sort_by: "price" },
  });
  if (error) throw new Error(`${error.error}: ${error.message}`);
  return data.data?.[0]?.total_price;
}

export async function ticketOf(id: string, code: string, email: string): Promise<Blob> {
  const { data, response } = await api.GET("/v1/booking/{id}/ticket", {
    params: { path: { id }, query: { code, email } },
    parseAs: "blob",
  });
  if (!data) throw new Error(`no ticket: ${response.status}`);
  return data as unknown as Blob;
}
