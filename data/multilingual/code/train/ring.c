/* ring.c: a ring buffer of bytes that never allocates. */

#include <stddef.h>
#include <stdint.h>

#define RING_SIZE 256u /* a power of two, so that masking replaces division */

struct ring {
	uint8_t data[RING_SIZE];
	size_t head; /* next byte to write */
	size_t tail; /* next byte to read */
};

size_t ring_used(const struct ring *r)
{
	return r->head - r->tail;
}

/* Return 1 if the byte was stored, 0 if the ring is full. */
int ring_put(struct ring *r, uint8_t byte)
{
	if (ring_used(r) == RING_SIZE)
		return 0;
	r->data[r->head++ & (RING_SIZE - 1)] = byte;
	return 1;
}

/* Return the oldest byte, or -1 if there is none. */
int ring_get(struct ring *r)
{
	if (r->head == r->tail)
		return -1;
	return r->data[r->tail++ & (RING_SIZE - 1)];
}
