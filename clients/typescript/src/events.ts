// Server-sent events.

export interface ServerEvent {
  id: string;
  data: string;
  /** Milliseconds after which a lost stream should be opened again. */
  retry: number | undefined;
}

/** The events of a stream. One that the end of the stream cuts off is left out. */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  let rest = "";
  let event: ServerEvent = { id: "", data: "", retry: undefined };
  let data: string[] = [];
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, name, value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
      if (line === "") {
        yield { ...event, data: data.join("\n") };
        event = { id: "", data: "", retry: undefined };
        data = [];
      } else if (name === "id") event.id = value;
      else if (name === "data") data.push(value);
      else if (name === "retry" && /^\d+$/.test(value)) event.retry = Number(value);
    }
  }
}
