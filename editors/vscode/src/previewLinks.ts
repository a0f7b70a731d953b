// What the server says of a preview, and the links in it, both ways. Nothing here knows the editor.

export interface Place {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Place;
  readonly end: Place;
}

export interface Location {
  readonly uri: string;
  readonly range: Range;
}

/** A line of the preview, and the definition and the schedule line that it came from. */
export interface Link {
  readonly line: number;
  readonly source?: Location;
  readonly schedule?: Location;
  readonly step?: number;
}

export interface HotLoop {
  readonly startLine: number;
  readonly endLine: number;
  readonly spills: number;
  readonly vectorBits: number;
  readonly summary: string;
}

/** The answer of `tdl/preview`. */
export interface Preview {
  readonly uri: string;
  readonly title: string;
  readonly op: string;
  readonly stage: string;
  readonly version: number;
  readonly step: number | null;
  readonly text: string;
  readonly links: readonly Link[];
  readonly steps: readonly (Location | null)[];
  readonly changes: { readonly added: readonly number[] } | null;
  readonly hotLoop: HotLoop | null;
  readonly refused: readonly { readonly line: number; readonly message: string }[];
}

/** The lines of a preview that came from what the cursor is in: the schedule line, or else the definition. */
export function linesFrom(links: readonly Link[], uri: string, cursor: Place): number[] {
  const of = (location: Location | undefined) => location !== undefined && location.uri === uri && contains(location.range, cursor);
  const scheduled = links.filter((link) => of(link.schedule)).map((link) => link.line);
  return scheduled.length > 0 ? scheduled : links.filter((link) => of(link.source)).map((link) => link.line);
}

/** The places that some lines of a preview came from, the schedule's first; each once. */
export function placesOf(links: readonly Link[], first: number, last: number): Location[] {
  const here = links.filter((link) => first <= link.line && link.line <= last);
  const all = [...here.map((link) => link.schedule), ...here.map((link) => link.source)];
  const seen = new Set<string>();
  return all.filter((each): each is Location => {
    const key = JSON.stringify(each);
    return each !== undefined && !seen.has(key) && seen.add(key) !== undefined;
  });
}

/** Whether a range holds a place; its line counts whole where the range is of one line. */
export function contains(range: Range, place: Place): boolean {
  if (range.start.line === range.end.line) {
    return place.line === range.start.line;
  }
  const isAfter = place.line > range.start.line || (place.line === range.start.line && place.character >= range.start.character);
  const isBefore = place.line < range.end.line || (place.line === range.end.line && place.character <= range.end.character);
  return isAfter && isBefore;
}

/** Sorted line numbers as ranges of neighbours, both ends included. */
export function runs(lines: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (const line of [...new Set(lines)].sort((a, b) => a - b)) {
    const last = found[found.length - 1];
    if (last && last[1] + 1 === line) {
      last[1] = line;
    } else {
      found.push([line, line]);
    }
  }
  return found;
}
