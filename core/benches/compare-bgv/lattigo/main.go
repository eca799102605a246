// Times Lattigo's BGV: additions, products and rotations, and prints one line of JSON.
//
// Built and run by ../theirs.rs.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

// What ../theirs.rs reads: least seconds of each.
type result struct {
	LogQ     float64 `json:"log_q"`
	Encrypt  float64 `json:"encrypt"`
	Add      float64 `json:"add"`
	Multiply float64 `json:"multiply"`
	Rotate   float64 `json:"rotate"`
	Wrong    int     `json:"wrong"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	rounds := flag.Int("rounds", 10, "runs of each operation; the fastest counts")
	flag.Parse()
	runtime.GOMAXPROCS(1)

	params, err := bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN:             15,
		LogQ:             []int{45, 26, 26, 25, 33, 33, 33, 33, 33},
		LogP:             []int{50, 50, 50},
		PlaintextModulus: 65537,
	})
	check(err)
	keygen := rlwe.NewKeyGenerator(params)
	sk := keygen.GenSecretKeyNew()
	keys := rlwe.NewMemEvaluationKeySet(keygen.GenRelinearizationKeyNew(sk), keygen.GenGaloisKeyNew(params.GaloisElement(1), sk))
	evaluator := bgv.NewEvaluator(params, keys)
	encoder, encryptor, decryptor := bgv.NewEncoder(params), rlwe.NewEncryptor(params, sk), rlwe.NewDecryptor(params, sk)

	t := params.PlaintextModulus()
	values := make([]uint64, params.MaxSlots())
	for i := range values {
		values[i] = uint64(i) * 48271 % t
	}
	plaintext := bgv.NewPlaintext(params, params.MaxLevel())
	check(encoder.Encode(values, plaintext))
	x, err := encryptor.EncryptNew(plaintext)
	check(err)

	least := func(f func()) float64 {
		best := 0.0
		for round := 0; round < *rounds; round++ {
			begun := time.Now()
			f()
			if took := time.Since(begun).Seconds(); round == 0 || took < best {
				best = took
			}
		}
		return best
	}
	out := result{LogQ: params.LogQ()}
	out.Encrypt = least(func() {
		check(encoder.Encode(values, plaintext))
		_, err := encryptor.EncryptNew(plaintext)
		check(err)
	})
	sum := x.CopyNew()
	out.Add = least(func() { check(evaluator.Add(x, x, sum)) })
	var square *rlwe.Ciphertext
	out.Multiply = least(func() {
		square, err = evaluator.MulRelinNew(x, x)
		check(err)
		check(evaluator.Rescale(square, square))
	})
	rotated := x.CopyNew()
	out.Rotate = least(func() { check(evaluator.RotateColumns(x, 1, rotated)) })

	expect := func(ct *rlwe.Ciphertext, expected func(i int) uint64) {
		found := make([]uint64, params.MaxSlots())
		check(encoder.Decode(decryptor.DecryptNew(ct), found))
		for i := range found {
			if found[i] != expected(i) {
				out.Wrong++
			}
		}
	}
	half := len(values) / 2
	expect(sum, func(i int) uint64 { return 2 * values[i] % t })
	expect(square, func(i int) uint64 { return values[i] * values[i] % t })
	expect(rotated, func(i int) uint64 { return values[i/half*half+(i+1)%half] })
	check(json.NewEncoder(os.Stdout).Encode(out))
}
