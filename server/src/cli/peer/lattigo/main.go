// Times bootstrapping with Lattigo's default parameters, and prints one line of JSON.
//
// Built and run by `refloat bench --peer lattigo`; see ../mod.rs.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
	"github.com/tuneinsight/lattigo/v6/utils/sampling"
)

// What ../mod.rs reads.
type result struct {
	LogN          int       `json:"logN"`
	Slots         int       `json:"slots"`
	LogQP         float64   `json:"logQP"`
	KeygenSeconds float64   `json:"keygenSeconds"`
	Seconds       []float64 `json:"seconds"`
	MeanBits      float64   `json:"meanBits"`
	WorstBits     float64   `json:"worstBits"`
	Levels        int       `json:"levels"`
	LogQ          float64   `json:"logQ"`
	PeakBytes     uint64    `json:"peakBytes"`
}

// Errors that the command line reports.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	set := flag.String("set", "N16QP1546H192H32", "N16QP1546H192H32 or N15QP768H192H32")
	runs := flag.Int("runs", 3, "bootstraps")
	threads := flag.Int("threads", 1, "operating-system threads that run Go code")
	flag.Parse()
	runtime.GOMAXPROCS(*threads)

	literal := bootstrapping.N16QP1546H192H32
	logN := 16
	if *set == "N15QP768H192H32" {
		literal, logN = bootstrapping.N15QP768H192H32, 15
	} else if *set != "N16QP1546H192H32" {
		check(fmt.Errorf("no set %s", *set))
	}
	// The default of the literal is 16, whatever the ring of the residual parameters.
	literal.BootstrappingParams.LogN = &logN
	// Nor are its special primes those of the set, which its name counts.
	literal.BootstrappingParams.LogP = literal.SchemeParams.LogP
	params, err := ckks.NewParametersFromLiteral(literal.SchemeParams)
	check(err)
	btp, err := bootstrapping.NewParametersFromLiteral(params, literal.BootstrappingParams)
	check(err)

	begun := time.Now()
	sk := rlwe.NewKeyGenerator(params).GenSecretKeyNew()
	keys, _, err := btp.GenEvaluationKeys(sk)
	check(err)
	keygen := time.Since(begun).Seconds()
	evaluator, err := bootstrapping.NewEvaluator(btp, keys)
	check(err)

	encoder := ckks.NewEncoder(params)
	decryptor := rlwe.NewDecryptor(params, sk)
	values := make([]complex128, params.MaxSlots())
	for i := range values {
		values[i] = sampling.RandComplex128(-1, 1)
	}
	plaintext := ckks.NewPlaintext(params, 0)
	check(encoder.Encode(values, plaintext))
	exhausted, err := rlwe.NewEncryptor(params, sk).EncryptNew(plaintext)
	check(err)

	out := result{
		LogN:          logN,
		Slots:         params.MaxSlots(),
		LogQP:         btp.BootstrappingParameters.LogQP(),
		KeygenSeconds: keygen,
		MeanBits:      math.Inf(1),
		WorstBits:     math.Inf(1),
	}
	fmt.Fprintln(os.Stderr, "ready to bootstrap")
	for run := 0; run < *runs; run++ {
		begun := time.Now()
		refreshed, err := evaluator.Bootstrap(exhausted.CopyNew())
		check(err)
		out.Seconds = append(out.Seconds, time.Since(begun).Seconds())
		found := make([]complex128, params.MaxSlots())
		check(encoder.Decode(decryptor.DecryptNew(refreshed), found))
		var sum, worst float64
		for i := range found {
			e := cmplx.Abs(found[i] - values[i])
			sum, worst = sum+e, math.Max(worst, e)
		}
		out.MeanBits = math.Min(out.MeanBits, -math.Log2(sum/float64(len(found))))
		out.WorstBits = math.Min(out.WorstBits, -math.Log2(worst))
		out.Levels = refreshed.Level()
		out.LogQ = 0
		for _, q := range params.Q()[:out.Levels+1] {
			out.LogQ += math.Log2(float64(q))
		}
	}
	out.PeakBytes = peak()
	check(json.NewEncoder(os.Stdout).Encode(out))
}

// Largest resident memory of this process, where the system tells; else what the runtime took from it.
func peak() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		for _, line := range strings.Split(string(status), "\n") {
			var kib uint64
			if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
				return kib * 1024
			}
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Sys
}
