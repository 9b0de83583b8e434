// The tags of protobuf fields (https://protobuf.dev/programming-guides/encoding/#structure): the number of the field in
// the schema, and how its content is encoded. The tags of fields 1 to 15 take one byte.

export const fieldWithNumber = (field: number): number => field << 3;
/** A string, a message, or packed numbers. */
export const fieldWithLength = (field: number): number => (field << 3) | 2;
